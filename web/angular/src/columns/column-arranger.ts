import type { Column, Snapshot } from '@evergrid/client';
import { initialOrder, isShownAtFirst, ROW_NUMBER } from '../grid/column-defs.js';
import {
  arrangementsOf,
  mergeArrangements,
  orderColumns,
  statesOf,
  type ColumnArrangement,
  type ColumnStorage,
} from './column-storage.js';
import type { GridRenderer } from '../grid/grid-renderer.js';
import { distributeSpace, fittingWidth } from './column-widths.js';

export interface ArrangerOptions {
  /** Columns to show at first. */
  readonly columns: readonly string[] | undefined;
  /** Where to store the user's arrangement, if at all. */
  readonly storage: ColumnStorage | undefined;
}

/** Arranges columns as the user wants them, and stores the arrangement. */
export class ColumnArranger {
  private columns: readonly Column[] = [];
  /** The user's arrangement, also of columns that the table does not have now. */
  private arranged: readonly ColumnArrangement[] = [];
  private widths: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly renderer: GridRenderer,
    private options: ArrangerOptions,
  ) {}

  /** Starts again, for another table or other initial columns. */
  restart(options: ArrangerOptions): void {
    this.options = options;
    this.arranged = [];
    if (this.columns.length) this.apply(this.columns, this.widths);
  }

  /** Follows changes of a table's columns; those that stay keep their arrangement. */
  update({ columns, rows, total }: Snapshot): void {
    if (sameColumns(columns, this.columns)) return;
    const space = this.renderer.columnSpace(total);
    const fitting = new Map(columns.map((one) => [one.name, fittingWidth(one, rows)]));
    const shown = columns.filter((one) => isShownAtFirst(one, this.options.columns));
    this.widths = distributeSpace(shown, fitting, space);
    const staying = this.stayingWidths(fitting);
    const added = shown.filter(({ name }) => !staying.has(name));
    const taken = [...staying.values()].reduce((sum, width) => sum + width, 0);
    this.apply(
      columns,
      staying.size ? distributeSpace(added, fitting, space - taken) : this.widths,
    );
    const widths = [...staying].map(([key, newWidth]) => ({ key, newWidth }));
    this.renderer.api.setColumnWidths(widths);
  }

  /** Forgets the columns, before another table opens. */
  clear(): void {
    this.columns = [];
  }

  /** All columns in their order, pinned left first. */
  list(): readonly ColumnArrangement[] {
    return arrangementsOf(this.renderer.api.getColumnState());
  }

  show(name: string, shown: boolean): void {
    this.renderer.api.setColumnsVisible([name], shown);
    this.save();
  }

  pin(name: string, side: 'left' | 'right' | null): void {
    this.renderer.api.setColumnsPinned([name], side);
    this.save();
  }

  /** Moves a column up or down the list by one. */
  move(name: string, by: 1 | -1): void {
    const names = this.list().map((one) => one.name);
    const index = names.indexOf(name) + by;
    if (index < 0 || index >= names.length) return;
    this.renderer.api.moveColumns([name], index + 1);
    this.save();
  }

  /** Back to the initial arrangement. */
  restoreDefaults(): void {
    this.arranged = [];
    this.options.storage?.clear();
    this.renderer.api.applyColumnState({ state: this.initialStates(), applyOrder: true });
  }

  save(): void {
    this.arranged = mergeArrangements(this.arranged, this.list());
    this.options.storage?.save(this.arranged);
  }

  /** `widths` are for new columns; the others keep theirs. */
  private apply(columns: readonly Column[], widths: ReadonlyMap<string, number>): void {
    this.columns = columns;
    const { columns: wanted, storage } = this.options;
    const widthOf = (column: Column): number => widths.get(column.name) ?? 120;
    this.renderer.setColumns(columns, { columns: wanted, widthOf });
    if (storage) this.arranged = storage.load();
    const names = initialOrder(columns, wanted).map(({ name }) => name);
    const state = statesOf(orderColumns(names, this.arranged));
    this.renderer.api.applyColumnState({ state, applyOrder: true });
  }

  /**
   * The visible columns that stay, with the widths that the user gave them, or else with widths that
   * fit the new rows too.
   */
  private stayingWidths(fitting: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
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

  private initialStates() {
    const wanted = this.options.columns;
    const states = initialOrder(this.columns, wanted).map((column) => ({
      colId: column.name,
      hide: !isShownAtFirst(column, wanted),
      pinned: null,
      width: this.widths.get(column.name) ?? 120,
    }));
    return [{ colId: ROW_NUMBER, pinned: 'left' as const }, ...states];
  }
}

export function sameColumns(one: readonly Column[], other: readonly Column[]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
