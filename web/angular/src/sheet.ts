import type { Row, Snapshot } from '@evergrid/client';

/**
 * What the grid shows at one moment: which row of a snapshot is at which line.
 * As one long table, lines are the rows of the view, of which a part is here; as a page, lines are
 * the rows of the snapshot.
 */
export class Sheet {
  static readonly EMPTY = new Sheet(undefined, false);

  /**
   * `shift` rows of the view are above the first line. While the newest rows are followed, it
   * grows instead of the number of lines: rows then pass through lines that stay where they are,
   * which costs far less than scrolling to new ones.
   */
  constructor(
    readonly snapshot: Snapshot | undefined,
    readonly paged: boolean,
    private readonly above = 0,
  ) {}

  get shift(): number {
    return this.paged ? (this.snapshot?.offset ?? 0) : this.above;
  }

  get lines(): number {
    if (!this.snapshot) return 0;
    return this.paged ? this.snapshot.rows.length : this.snapshot.total - this.above;
  }

  /** The row at a line, if it is here. */
  rowAt(line: number): Row | undefined {
    const { snapshot } = this;
    return snapshot?.rows[line + this.shift - snapshot.offset];
  }

  /** How many rows of the view are above a line. */
  positionOf(line: number): number {
    return line + this.shift;
  }

  /** The line of a row of the view, the nearest one if it is not here. */
  lineOf(position: number): number {
    return Math.max(0, Math.min(position - this.shift, this.lines - 1));
  }
}
