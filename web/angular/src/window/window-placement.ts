import type { Column, OrderBy, Place } from '@evergrid/client';
import type { ViewState } from '../view-state/view-state.js';

/** Rows of a window: enough for ten screens, and little to send. */
export const WINDOW_ROWS = 300;

/** Rows beyond the screen that are loaded before the user scrolls to them. */
const MARGIN = 60;

/** Windows begin at multiples of this, so that users who see the same rows share a window. */
const STEP = 50;

/** Rows of a screen, before the size of the screen is known. */
const DEFAULT_SCREEN_ROWS = 40;

/** The first and the last of some rows, counted from 0. */
export interface Span {
  readonly first: number;
  readonly last: number;
}

export function sameSpan(one: Span, other: Span): boolean {
  return one.first === other.first && one.last === other.last;
}

/** Which part of the result is loaded. */
export interface Extent {
  readonly total: number;
  readonly offset: number;
  readonly rows: number;
}

export function sameExtent(one: Extent | undefined, other: Extent | undefined): boolean {
  return one?.total === other?.total && one?.offset === other?.offset && one?.rows === other?.rows;
}

/** A window with these rows in its middle. */
export function placeAround({ first, last }: Span): Place {
  const wanted = last - first + 1 + 2 * MARGIN + STEP;
  const limit = Math.max(WINDOW_ROWS, Math.ceil(wanted / STEP) * STEP);
  const middle = (first + last) / 2;
  const offset = Math.max(0, Math.round((middle - limit / 2) / STEP) * STEP);
  return { offset, limit };
}

/** Whether a window has the visible rows and the margin around them. */
export function covers(place: Place, visible: Span, total: number): boolean {
  if (place.offset < 0) return false;
  const first = Math.max(0, visible.first - MARGIN);
  const last = Math.min(total - 1, visible.last + MARGIN);
  return place.offset <= first && last < place.offset + place.limit;
}

/** The last rows of a result, as many as are visible. */
export function lastScreenful({ first, last }: Span, total: number): Span {
  return { first: Math.max(0, total - 1 - (last - first)), last: total - 1 };
}

/** The newest rows; the window moves with the end of the table. */
export function newestPlace(limit: number): Place {
  return { offset: -limit, limit };
}

/** The first row of the page that has this row. */
export function pageStart(position: number, page: number): number {
  return Math.floor(position / page) * page;
}

/** The place that a view state asks for; `edge` is the end with the newest rows. */
export function placeOf({ page, position, follow }: ViewState, edge: Edge): Place {
  if (follow && edge === 'bottom') return newestPlace(page ?? WINDOW_ROWS);
  const first = follow ? 0 : (position ?? 0);
  if (page) return { offset: pageStart(first, page), limit: page };
  return placeAround({ first, last: first + DEFAULT_SCREEN_ROWS });
}

/** The end of the table that has the newest rows. */
export type Edge = 'top' | 'bottom';

/** The newest rows are last in the table's own order and by ascending time. */
export function newestEdge(
  order: readonly OrderBy[] | undefined,
  columns: readonly Column[],
): Edge {
  return isByTime(order, columns) && order?.[0]?.descending ? 'top' : 'bottom';
}

/** Whether rows are in the order of their time, so that new rows appear at one end. */
export function isByTime(
  order: readonly OrderBy[] | undefined,
  columns: readonly Column[],
): boolean {
  const first = order?.[0];
  if (!first) return true;
  return columns.some(({ name, role }) => name === first.column && role === 'time');
}
