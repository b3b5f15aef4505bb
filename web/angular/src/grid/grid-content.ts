import type { Row, Snapshot } from '@evergrid/client';
import type { ViewState } from '../view-state/view-state.js';
import { WINDOW_ROWS, type Edge } from '../window/window-placement.js';

/**
 * What the grid shows at one moment: which row of a snapshot is on which line.
 * Without pages, the lines are all rows of the result, of which some are loaded; with pages, the
 * lines are the rows of the snapshot.
 */
export class GridContent {
  static readonly EMPTY = new GridContent(undefined, false);

  /**
   * `above` rows of the result are above the first line. While the table follows the newest rows,
   * `above` grows instead of the number of lines: rows then move through lines that stay in place,
   * which is much cheaper than scrolling to new lines.
   */
  constructor(
    readonly snapshot: Snapshot | undefined,
    readonly paged: boolean,
    private readonly above = 0,
  ) {}

  /** The content for a snapshot, after a content with `lines` lines. */
  static of(snapshot: Snapshot, state: ViewState, edge: Edge, lines: number): GridContent {
    const paged = state.page !== undefined;
    const keepsLines = state.follow && !paged && edge === 'bottom' && lines >= WINDOW_ROWS;
    return new GridContent(snapshot, paged, keepsLines ? Math.max(0, snapshot.total - lines) : 0);
  }

  get shift(): number {
    return this.paged ? (this.snapshot?.offset ?? 0) : this.above;
  }

  get lines(): number {
    if (!this.snapshot) return 0;
    return this.paged ? this.snapshot.rows.length : this.snapshot.total - this.above;
  }

  /** The row on a line; undefined if it is not loaded. */
  rowAt(line: number): Row | undefined {
    const { snapshot } = this;
    return snapshot?.rows[line + this.shift - snapshot.offset];
  }

  /** The position in the result of the row on a line. */
  positionOf(line: number): number {
    return line + this.shift;
  }

  /** The line of a position in the result; the nearest one if it is not among the lines. */
  lineOf(position: number): number {
    return Math.max(0, Math.min(position - this.shift, this.lines - 1));
  }
}
