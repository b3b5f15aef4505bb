/** What is asked of a gateway: a table, a query and a place, in one spelling. */

import { EvergridError } from './errors.js';
import type { Open } from './messages.js';
import type { Filter, OrderBy, Place, Query } from './types.js';

const DEFAULT_PLACE: Place = { offset: 0, limit: 300 };

/** A table and a query with nothing in it that goes without saying. */
export interface Question {
  readonly table: string;
  readonly columns?: readonly string[];
  readonly filter?: Filter;
  readonly search?: string;
  readonly order?: readonly OrderBy[];
}

/** Only the fields that a gateway knows: it ends a connection on which others come. */
export function questionOf(table: string, query: Query): Question {
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

/** The place with what is left out as it was before. */
export function placeOf(place: Partial<Place>, before: Place = DEFAULT_PLACE): Place {
  const { offset = before.offset, limit = before.limit } = place;
  if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(limit)) {
    throw new EvergridError(
      'bad_window',
      `There are no rows at ${offset} of ${limit}: give whole numbers.`,
    );
  }
  // -0 is 0 to everybody but the text that tells windows apart.
  return { offset: offset || 0, limit };
}

/** Equal for those who ask for the same, however they wrote it. */
export function keyOf(question: Question, place: Place): string {
  return JSON.stringify([question, place.offset, place.limit], sorted);
}

function sorted(_name: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function openOf(sub: number, question: Question, place: Place): Open {
  return { type: 'open', sub, ...question, ...place };
}
