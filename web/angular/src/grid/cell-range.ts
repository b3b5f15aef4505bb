/** A cell by its line and the name of its column. */
export interface CellPosition {
  readonly line: number;
  readonly column: string;
}

/** A rectangle of selected cells, in the present order of the columns. */
export class CellRange {
  private readonly from: number;
  private readonly to: number;
  private readonly names: ReadonlySet<string>;

  /** With `wholeLines` the range has all columns. */
  constructor(
    readonly anchor: CellPosition,
    readonly end: CellPosition,
    columns: readonly string[],
    wholeLines: boolean,
  ) {
    this.from = Math.min(anchor.line, end.line);
    this.to = Math.max(anchor.line, end.line);
    const one = columns.indexOf(anchor.column);
    const other = columns.indexOf(end.column);
    const [left, right] = [Math.min(one, other), Math.max(one, other)];
    this.names = new Set(wholeLines ? columns : columns.slice(Math.max(left, 0), right + 1));
  }

  get first(): number {
    return this.from;
  }

  get last(): number {
    return this.to;
  }

  get columns(): readonly string[] {
    return [...this.names];
  }

  get isOneCell(): boolean {
    return this.from === this.to && this.names.size === 1;
  }

  has(line: number, column: string): boolean {
    return line >= this.from && line <= this.to && this.names.has(column);
  }
}
