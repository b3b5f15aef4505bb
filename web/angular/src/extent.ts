import type { Place, Snapshot } from '@evergrid/client';
import type { Look } from './look.js';
import type { Edge } from './newest.js';
import { Sheet } from './sheet.js';
import { newest, placeAround, WINDOW_ROWS, type Span } from './window.js';

/** About a screenful, before it is known how large the screen is. */
const SCREENFUL = 40;

/** How much of the view is here. */
export interface Extent {
  readonly total: number;
  readonly offset: number;
  readonly rows: number;
}

export function sameExtent(one: Extent | undefined, other: Extent | undefined): boolean {
  return one?.total === other?.total && one?.offset === other?.offset && one?.rows === other?.rows;
}

export function sameSpan(one: Span, other: Span): boolean {
  return one.first === other.first && one.last === other.last;
}

/** The first row of the page that has this row. */
export function aligned(position: number, page: number): number {
  return Math.floor(position / page) * page;
}

/** The rows to ask for, for a look whose newest rows are at this end. */
export function placeOf({ page, position, follow }: Look, edge: Edge): Place {
  if (follow && edge === 'bottom') return newest(page ?? WINDOW_ROWS);
  const first = follow ? 0 : (position ?? 0);
  if (page) return { offset: aligned(first, page), limit: page };
  return placeAround({ first, last: first + SCREENFUL });
}

/** What the grid shows of a snapshot, which had so many lines until now. */
export function sheetOf(snapshot: Snapshot, look: Look, edge: Edge, lines: number): Sheet {
  const paged = look.page !== undefined;
  const stays = look.follow && !paged && edge === 'bottom' && lines >= WINDOW_ROWS;
  return new Sheet(snapshot, paged, stays ? Math.max(0, snapshot.total - lines) : 0);
}
