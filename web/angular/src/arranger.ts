import type { Column, Snapshot } from '@evergrid/client';
import { isShownAtFirst, NUMBERS } from './columns.js';
import { arrangementsOf, ColumnMemory, statesOf, type Arrangement } from './memory.js';
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
  private widths: ReadonlyMap<string, number> = new Map();

  constructor(
    private readonly viewer: GridViewer,
    private options: ArrangerOptions,
  ) {}

  /** Another table, or another wish what to show at first. */
  restart(options: ArrangerOptions): void {
    this.options = options;
    if (this.columns.length) this.apply(this.columns);
  }

  /** Follows a table's columns: new ones come, others go, the rest stays as it was arranged. */
  take(snapshot: Snapshot): void {
    if (sameColumns(snapshot.columns, this.columns)) return;
    this.measure(snapshot);
    this.apply(snapshot.columns);
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
    this.options.memory?.forget();
    this.viewer.api.applyColumnState({ state: this.atFirst(), applyOrder: true });
  }

  keep(): void {
    this.options.memory?.keep(this.list());
  }

  private apply(columns: readonly Column[]): void {
    this.columns = columns;
    const { columns: shown, memory } = this.options;
    const widthOf = (column: Column): number => this.widths.get(column.name) ?? 120;
    this.viewer.setColumns(columns, { columns: shown, widthOf });
    const remembered = memory?.recall() ?? [];
    if (remembered.length) {
      this.viewer.api.applyColumnState({ state: statesOf(remembered), applyOrder: true });
    }
  }

  private measure({ columns, rows, total }: Snapshot): void {
    const fitting = new Map(columns.map((one) => [one.name, fittingWidth(one, rows)]));
    const shown = columns.filter((one) => isShownAtFirst(one, this.options.columns));
    this.widths = spread(shown, fitting, this.viewer.room(total));
  }

  private atFirst() {
    const wanted = this.options.columns ?? [];
    const first = wanted.filter((name) => this.columns.some((one) => one.name === name));
    const others = this.columns.map((one) => one.name).filter((name) => !first.includes(name));
    const byName = new Map(this.columns.map((one) => [one.name, one]));
    const states = [...first, ...others].map((name) => ({
      colId: name,
      hide: !isShownAtFirst(byName.get(name)!, wanted),
      pinned: null,
      width: this.widths.get(name) ?? 120,
    }));
    return [{ colId: NUMBERS, pinned: 'left' as const }, ...states];
  }
}

export function sameColumns(one: readonly Column[], other: readonly Column[]): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
