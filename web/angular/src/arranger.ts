import type { Column, Snapshot } from '@evergrid/client';
import { atFirst, isShownAtFirst, NUMBERS } from './columns.js';
import {
  arrangementsOf,
  ColumnMemory,
  merged,
  ordered,
  statesOf,
  type Arrangement,
} from './memory.js';
import type { GridViewer } from './viewer.js';
import { fittingWidth, spread } from './widths.js';

export interface ArrangerOptions {
  /** Columns to show at first. */
  readonly columns: readonly string[] | undefined;
  /** Where to keep what people arrange, if at all. */
  readonly memory: ColumnMemory | undefined;
}

/** Puts columns where people want them, and remembers it. */
export class Arranger {
  private columns: readonly Column[] = [];
  /** What people arranged, of columns that are away too: they may come back. */
  private arranged: readonly Arrangement[] = [];
  private widths: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly viewer: GridViewer,
    private options: ArrangerOptions,
  ) {}

  /** Another table, or another wish what to show at first. */
  restart(options: ArrangerOptions): void {
    this.options = options;
    this.arranged = [];
    if (this.columns.length) this.apply(this.columns, this.widths);
  }

  /** Follows a table's columns: new ones come, others go, the rest stays as it was arranged. */
  take({ columns, rows, total }: Snapshot): void {
    if (sameColumns(columns, this.columns)) return;
    const room = this.viewer.room(total);
    const fitting = new Map(columns.map((one) => [one.name, fittingWidth(one, rows)]));
    const shown = columns.filter((one) => isShownAtFirst(one, this.options.columns));
    this.widths = spread(shown, fitting, room);
    const others = this.standing(fitting);
    const fresh = shown.filter(({ name }) => !others.has(name));
    const taken = [...others.values()].reduce((sum, width) => sum + width, 0);
    this.apply(columns, others.size ? spread(fresh, fitting, room - taken) : this.widths);
    const widths = [...others].map(([key, newWidth]) => ({ key, newWidth }));
    this.viewer.api.setColumnWidths(widths);
  }

  forget(): void {
    this.columns = [];
  }

  /** All columns in their order, those that are pinned left first. */
  list(): readonly Arrangement[] {
    return arrangementsOf(this.viewer.api.getColumnState());
  }

  show(name: string, shown: boolean): void {
    this.viewer.api.setColumnsVisible([name], shown);
    this.keep();
  }

  pin(name: string, side: 'left' | 'right' | null): void {
    this.viewer.api.setColumnsPinned([name], side);
    this.keep();
  }

  /** Moves a column up or down the list by one. */
  move(name: string, by: 1 | -1): void {
    const names = this.list().map((one) => one.name);
    const place = names.indexOf(name) + by;
    if (place < 0 || place >= names.length) return;
    this.viewer.api.moveColumns([name], place + 1);
    this.keep();
  }

  /** As if nobody had arranged anything. */
  reset(): void {
    this.arranged = [];
    this.options.memory?.forget();
    this.viewer.api.applyColumnState({ state: this.firstStates(), applyOrder: true });
  }

  keep(): void {
    this.arranged = merged(this.arranged, this.list());
    this.options.memory?.keep(this.arranged);
  }

  /** `widths` are for columns that come; those that stay keep theirs. */
  private apply(columns: readonly Column[], widths: ReadonlyMap<string, number>): void {
    this.columns = columns;
    const { columns: wanted, memory } = this.options;
    const widthOf = (column: Column): number => widths.get(column.name) ?? 120;
    this.viewer.setColumns(columns, { columns: wanted, widthOf });
    if (memory) this.arranged = memory.recall();
    const names = atFirst(columns, wanted).map(({ name }) => name);
    const state = statesOf(ordered(names, this.arranged));
    this.viewer.api.applyColumnState({ state, applyOrder: true });
  }

  /**
   * The columns that are shown and stay, with their widths: those that people gave them, else such
   * that new rows fit too. None while there are no columns.
   */
  private standing(fitting: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
    const names = new Set(this.columns.map(({ name }) => name));
    const shown = this.list().filter(({ name, hidden }) => names.has(name) && !hidden);
    return new Map(
      shown.flatMap(({ name, width = 0 }) => {
        const least = fitting.get(name);
        if (least === undefined) return [];
        return [[name, this.arranged.length ? width : Math.max(width, least)]];
      }),
    );
  }

  private firstStates() {
    const wanted = this.options.columns;
    const states = atFirst(this.columns, wanted).map((column) => ({
      colId: column.name,
      hide: !isShownAtFirst(column, wanted),
      pinned: null,
      width: this.widths.get(column.name) ?? 120,
    }));
    return [{ colId: NUMBERS, pinned: 'left' as const }, ...states];
  }
}

export function sameColumns(one: readonly Column[], other: readonly Column[]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
