import type { Column, OrderBy } from '@evergrid/client';

/** At which end of the table the newest rows are. */
export type Edge = 'top' | 'bottom';

/** The table's own order has the newest rows last; so has one by time, unless it descends. */
export function followEdge(
  order: readonly OrderBy[] | undefined,
  columns: readonly Column[],
): Edge {
  return isByTime(order, columns) && order?.[0]?.descending ? 'top' : 'bottom';
}

/** Whether rows are in the order of their time, so that new ones come at one end. */
export function isByTime(
  order: readonly OrderBy[] | undefined,
  columns: readonly Column[],
): boolean {
  const first = order?.[0];
  if (!first) return true;
  return columns.some(({ name, role }) => name === first.column && role === 'time');
}
