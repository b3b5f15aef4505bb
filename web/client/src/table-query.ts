/** What a window asks of a gateway, in one canonical form: a table, a query and a place. */

import { EvergridError } from './errors.js';
import type { Open } from './messages.js';
import type { Filter, OrderBy, Place, Query } from './types.js';

const DEFAULT_PLACE: Place = { offset: 0, limit: 300 };

/** A table and a query without fields that have their default value. */
export interface TableQuery {
  readonly table: string;
  readonly columns?: readonly string[];
  readonly filter?: Filter;
  readonly search?: string;
  readonly order?: readonly OrderBy[];
}

/** Copies only the fields that the protocol has: a gateway ends a connection for unknown ones. */
export function tableQueryOf(table: string, query: Query): TableQuery {
  const { columns, filter, search, order } = query;
  return {
    table: String(table),
    ...(columns?.length ? { columns: [...columns] } : {}),
    ...(filter ? { filter } : {}),
    ...(search?.trim() ? { search: search.trim() } : {}),
    ...(order?.length ? { order: order.map(orderOf) } : {}),
  };
}

function orderOf({ column, descending, nulls }: OrderBy): OrderBy {
  return {
    column,
    ...(descending ? { descending } : {}),
    ...(nulls === 'first' ? { nulls } : {}),
  };
}

/** The place, completed from an earlier one. */
export function placeOf(place: Partial<Place>, before: Place = DEFAULT_PLACE): Place {
  const { offset = before.offset, limit = before.limit } = place;
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(limit)) {
    throw new EvergridError(
      'bad_window',
      `Invalid window: offset ${offset} and limit ${limit} must be whole numbers.`,
    );
  }
  // -0 and 0 are the same place, but not the same JSON text.
  return { offset: offset || 0, limit };
}

/** Equal for equal queries and places, whatever the order of their fields. */
export function keyOf(query: TableQuery, place: Place): string {
  return JSON.stringify([query, place.offset, place.limit], sortFields);
}

function sortFields(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function openMessage(sub: number, query: TableQuery, place: Place): Open {
  return { type: 'open', sub, ...query, ...place };
}
