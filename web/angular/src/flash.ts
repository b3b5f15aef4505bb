/** How long a changed cell is marked in full, and how long until the mark is gone. */
const FULL_MS = 500;
const GONE_MS = 800;

/** Marks fade in steps that many cells take together: each costs the page one frame. */
const STEP_MS = 150;

const LIT = 'eg-flash';
const FADING = 'eg-fading';

export interface CellPlace {
  readonly line: number;
  readonly column: string;
}

/**
 * Marks cells for a moment.
 * Classes on the elements that are there, put on and taken off in one go: a component or an
 * animation for each cell would cost more than all the rest of an update.
 */
export class Flasher {
  private readonly lit = new Map<Element, number>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly still = matchMedia('(prefers-reduced-motion: reduce)');

  constructor(private readonly root: HTMLElement) {}

  /** Lights cells up, and puts out those of lines that have another row now. */
  mark(cells: readonly CellPlace[], replaced: ReadonlySet<number>): void {
    if (this.still.matches || (!cells.length && !this.lit.size)) return;
    const lines = this.elements();
    if (this.lit.size) this.putOut(replaced);
    const now = performance.now();
    for (const { line, column } of cells) {
      const cell = lines.get(line)?.querySelector(`[col-id="${column}"]`);
      if (cell) this.light(cell, now);
    }
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.lit.clear();
  }

  private light(cell: Element, now: number): void {
    if (this.lit.delete(cell)) cell.classList.remove(FADING);
    else cell.classList.add(LIT);
    this.lit.set(cell, now);
    this.timer ??= setTimeout(() => this.fade(), STEP_MS);
  }

  /** Those that were lit first come first in the map. */
  private fade(): void {
    this.timer = undefined;
    const now = performance.now();
    for (const [cell, since] of this.lit) {
      if (now - since < FULL_MS) break;
      if (now - since < GONE_MS) cell.classList.add(FADING);
      else this.quench(cell);
    }
    if (this.lit.size) this.timer = setTimeout(() => this.fade(), STEP_MS);
  }

  private quench(cell: Element): void {
    cell.classList.remove(LIT, FADING);
    this.lit.delete(cell);
  }

  private putOut(replaced: ReadonlySet<number>): void {
    if (!replaced.size) return;
    for (const cell of this.lit.keys()) {
      const line = Number(cell.closest('.ag-row')?.getAttribute('row-index') ?? -1);
      if (replaced.has(line)) this.quench(cell);
    }
  }

  private elements(): Map<number, Element> {
    const rows = this.root.querySelectorAll('.ag-row');
    return new Map(Array.from(rows, (row) => [Number(row.getAttribute('row-index')), row]));
  }
}
