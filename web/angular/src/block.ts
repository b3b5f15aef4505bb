/** A cell by its line and the name of its column. */
export interface Corner {
  readonly line: number;
  readonly column: string;
}

/** Cells that are picked together: from one corner to the other, as the columns are arranged. */
export class Block {
  private readonly from: number;
  private readonly to: number;
  private readonly picked: ReadonlySet<string>;

  /** With `whole`, or when it began at the rows' numbers, the block has whole lines. */
  constructor(
    readonly anchor: Corner,
    readonly end: Corner,
    columns: readonly string[],
    whole: boolean,
  ) {
    this.from = Math.min(anchor.line, end.line);
    this.to = Math.max(anchor.line, end.line);
    const one = columns.indexOf(anchor.column);
    const other = columns.indexOf(end.column);
    const [left, right] = [Math.min(one, other), Math.max(one, other)];
    this.picked = new Set(whole ? columns : columns.slice(Math.max(left, 0), right + 1));
  }

  get first(): number {
    return this.from;
  }

  get last(): number {
    return this.to;
  }

  get columns(): readonly string[] {
    return [...this.picked];
  }

  get isOneCell(): boolean {
    return this.from === this.to && this.picked.size === 1;
  }

  has(line: number, column: string): boolean {
    return line >= this.from && line <= this.to && this.picked.has(column);
  }
}
