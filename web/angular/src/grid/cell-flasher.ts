import type { CellPosition } from './cell-range.js';

/** When a changed cell starts to fade, and when its mark ends. */
const FADE_AFTER_MS = 500;
const END_AFTER_MS = 800;

/** Many cells fade in the same step, because each step costs one frame. */
const STEP_MS = 150;

const FLASH = 'eg-flash';
const FADING = 'eg-fading';

/**
 * Highlights changed cells for a moment.
 * It adds and removes classes of existing elements in batches: a component or an animation for each
 * cell would cost more than the rest of an update.
 */
export class CellFlasher {
  private readonly flashing = new Map<Element, number>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(private readonly root: HTMLElement) {}

  /** Highlights cells, and ends the highlights of lines that have another row now. */
  mark(cells: readonly CellPosition[], replaced: ReadonlySet<number>): void {
    if (this.reducedMotion.matches || (!cells.length && !this.flashing.size)) return;
    const lines = this.lineElements();
    if (this.flashing.size) this.endOf(replaced);
    const now = performance.now();
    for (const { line, column } of cells) {
      const cell = lines.get(line)?.querySelector(`[col-id="${column}"]`);
      if (cell) this.start(cell, now);
    }
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.flashing.clear();
  }

  private start(cell: Element, now: number): void {
    if (this.flashing.delete(cell)) cell.classList.remove(FADING);
    else cell.classList.add(FLASH);
    this.flashing.set(cell, now);
    this.timer ??= setTimeout(() => this.fade(), STEP_MS);
  }

  /** The map is in the order of the start times. */
  private fade(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const [cell, since] of this.flashing) {
      if (now - since < FADE_AFTER_MS) break;
      if (now - since < END_AFTER_MS) cell.classList.add(FADING);
      else this.end(cell);
    }
    if (this.flashing.size) this.timer = setTimeout(() => this.fade(), STEP_MS);
  }

  private end(cell: Element): void {
    cell.classList.remove(FLASH, FADING);
    this.flashing.delete(cell);
  }

  private endOf(replaced: ReadonlySet<number>): void {
    if (!replaced.size) return;
    for (const cell of this.flashing.keys()) {
      const line = Number(cell.closest('.ag-row')?.getAttribute('row-index') ?? -1);
      if (replaced.has(line)) this.end(cell);
    }
  }

  private lineElements(): Map<number, Element> {
    const rows = this.root.querySelectorAll('.ag-row');
    return new Map(Array.from(rows, (row) => [Number(row.getAttribute('row-index')), row]));
  }
}
