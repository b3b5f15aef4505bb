import type { Place } from '@evergrid/client';

/** Rows that are asked for at once: enough for ten screens, and little to send. */
export const WINDOW_ROWS = 300;

/** Rows ahead of the screen that should be here already when somebody scrolls on. */
const MARGIN = 60;

/** Windows begin at multiples of this, so that people who look at the same rows share one. */
const STEP = 50;

export interface Span {
  readonly first: number;
  readonly last: number;
}

/** A window with these rows in its middle. */
export function placeAround({ first, last }: Span): Place {
  const wanted = last - first + 1 + 2 * MARGIN + STEP;
  const limit = Math.max(WINDOW_ROWS, Math.ceil(wanted / STEP) * STEP);
  const middle = (first + last) / 2;
  const offset = Math.max(0, Math.round((middle - limit / 2) / STEP) * STEP);
  return { offset, limit };
}

/** Whether a window has these rows and enough around them, as far as there are any. */
export function covers(place: Place, visible: Span, total: number): boolean {
  if (place.offset < 0) return false;
  const first = Math.max(0, visible.first - MARGIN);
  const last = Math.min(total - 1, visible.last + MARGIN);
  return place.offset <= first && last < place.offset + place.limit;
}

/** The last rows of a result, as many as are seen. */
export function lastScreenful({ first, last }: Span, total: number): Span {
  return { first: Math.max(0, total - 1 - (last - first)), last: total - 1 };
}

/** The newest rows, and those that will be. */
export function newest(limit: number): Place {
  return { offset: -limit, limit };
}
