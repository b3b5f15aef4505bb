import type { Condition, Filter, OrderBy, Query } from '@evergrid/client';

/**
 * What a person has made of a table: all that a shared link must say to show the same.
 * Plain data, so that it can go into an address and back. What is left out is the default.
 */
export interface Look {
  readonly search?: string;
  readonly order?: readonly OrderBy[];
  /** At most one condition a column; all must hold. */
  readonly filters?: readonly Condition[];
  /** The first row that is shown, counted from 0. */
  readonly position?: number;
  /** Show the newest rows and stay there. */
  readonly follow?: boolean;
  /** Rows a page; left out: one long table that scrolls. */
  readonly page?: number;
}

/** Changes of a look; `undefined` takes something out of it. */
export type LookChange = { readonly [Part in keyof Look]?: Look[Part] | undefined };

/** A look with changes, without what is empty: equal looks are then equal as JSON. */
export function changed(look: Look, change: LookChange): Look {
  const { search, order, filters, position, follow, page } = { ...look, ...change };
  return {
    ...(search ? { search } : {}),
    ...(order?.length ? { order } : {}),
    ...(filters?.length ? { filters } : {}),
    ...(position && position > 0 ? { position } : {}),
    ...(follow ? { follow } : {}),
    ...(page && page > 0 ? { page } : {}),
  };
}

export function sameLook(one: Look, other: Look): boolean {
  return keyOf(one) === keyOf(other);
}

/** Whether two looks ask the gateway for the same rows in the same order. */
export function sameQuestion(one: Look, other: Look): boolean {
  return questionKey(one) === questionKey(other);
}

function keyOf(look: Look): string {
  const { position, follow, page } = changed(look, {});
  return JSON.stringify([questionKey(look), position, follow, page]);
}

/** Looks that went through an address may have their fields in another order. */
function questionKey({ search, order, filters }: Look): string {
  const orders = order?.map((one) => [one.column, !!one.descending, one.nulls ?? 'last']);
  const conditions = filters?.map((one) => [one.column, one.op, one.value, !!one.ignore_case]);
  return JSON.stringify([search?.trim() ?? '', orders ?? [], conditions ?? []]);
}

/** The part of a look that the gateway answers: which rows, in which order. */
export function queryOf({ search, order, filters }: Look): Query {
  const filter = filterOf(filters ?? []);
  return {
    ...(filter ? { filter } : {}),
    ...(search?.trim() ? { search: search.trim() } : {}),
    ...(order?.length ? { order } : {}),
  };
}

function filterOf(conditions: readonly Condition[]): Filter | undefined {
  return conditions.length > 1 ? { and: conditions } : conditions[0];
}

/** The filters with this condition for its column; without one the column's filter goes. */
export function withCondition(
  filters: readonly Condition[] | undefined,
  column: string,
  condition: Condition | undefined,
): readonly Condition[] {
  const others = (filters ?? []).filter((one) => one.column !== column);
  return condition ? [...others, condition] : others;
}

/**
 * The order after a click on a column's header: ascending, descending, none.
 * With `more` the column joins those that are ordered by already.
 */
export function clickedOrder(
  order: readonly OrderBy[] | undefined,
  column: string,
  more: boolean,
): readonly OrderBy[] {
  const before = order?.find((one) => one.column === column);
  const next = !before ? [{ column }] : before.descending ? [] : [{ column, descending: true }];
  if (!more) return next;
  if (!before) return [...(order ?? []), ...next];
  return (order ?? []).flatMap((one) => (one.column === column ? next : [one]));
}
