import type { Condition, Filter, OrderBy, Query } from '@evergrid/client';

/**
 * What the user has chosen for a table: all that a shared link needs to show the same.
 * Plain data, so that it can be part of a URL. A missing field means the default.
 */
export interface ViewState {
  readonly search?: string;
  readonly order?: readonly OrderBy[];
  /** At most one condition for each column; all must hold. */
  readonly filters?: readonly Condition[];
  /** The first row that is shown, from 0. */
  readonly position?: number;
  /** Show the newest rows and stay there. */
  readonly follow?: boolean;
  /** Rows a page; without it, one long table that scrolls. */
  readonly page?: number;
}

/** A change of a view state; `undefined` removes a field. */
export type ViewStateChange = { readonly [Part in keyof ViewState]?: ViewState[Part] | undefined };

/** The changed state without fields that have their default: equal states are equal as JSON. */
export function withChange(state: ViewState, change: ViewStateChange): ViewState {
  const { search, order, filters, position, follow, page } = { ...state, ...change };
  return {
    ...(search ? { search } : {}),
    ...(order?.length ? { order } : {}),
    ...(filters?.length ? { filters } : {}),
    ...(position && position > 0 ? { position } : {}),
    ...(follow ? { follow } : {}),
    ...(page && page > 0 ? { page } : {}),
  };
}

export function sameViewState(one: ViewState, other: ViewState): boolean {
  return keyOf(one) === keyOf(other);
}

/** Whether two states ask the gateway for the same rows in the same order. */
export function sameQuery(one: ViewState, other: ViewState): boolean {
  return queryKey(one) === queryKey(other);
}

function keyOf(state: ViewState): string {
  const { position, follow, page } = withChange(state, {});
  return JSON.stringify([queryKey(state), position, follow, page]);
}

/** A state that was part of a URL may have its fields in another order. */
function queryKey({ search, order, filters }: ViewState): string {
  const orders = order?.map((one) => [one.column, !!one.descending, one.nulls ?? 'last']);
  const conditions = filters?.map((one) => [one.column, one.op, one.value, !!one.ignore_case]);
  return JSON.stringify([search?.trim() ?? '', orders ?? [], conditions ?? []]);
}

/** The part of a state that the gateway answers: which rows, in which order. */
export function queryOf({ search, order, filters }: ViewState): Query {
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

/** The filters with this condition for the column; `undefined` removes the column's filter. */
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
 * With `more` the column is added to the present order.
 */
export function orderAfterClick(
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
