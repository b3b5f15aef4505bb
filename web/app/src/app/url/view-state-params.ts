import type { ViewState } from '@evergrid/angular';
import type { Condition, FilterValue, Operator, OrderBy } from '@evergrid/client';

/**
 * A table's view state as query parameters: `search=sato&order=-balance,name&row=1201`.
 *
 * The names are those of the gateway's HTTP parameters where such exist. `row` counts from 1, like the
 * row numbers on the screen.
 */
export type ViewStateParams = Readonly<Record<ViewStateParam, string | null>>;

export type ViewStateParam = 'search' | 'order' | 'filter' | 'row' | 'follow' | 'page';

export interface ReadViewState {
  readonly state: ViewState;
  /** Invalid parameters, which are not part of `state`. */
  readonly ignored: readonly ViewStateParam[];
}

const MAX_SEARCH_LENGTH = 256;
const MAX_ORDERS = 16;
const MAX_CONDITIONS = 100;
const MAX_PAGE = 5000;

const ARITY: Readonly<Record<Operator, 'none' | 'one' | 'two' | 'list'>> = {
  equals: 'one',
  not: 'one',
  in: 'list',
  less: 'one',
  less_or_equal: 'one',
  greater: 'one',
  greater_or_equal: 'one',
  between: 'two',
  contains: 'one',
  starts_with: 'one',
  is_null: 'none',
  not_null: 'none',
};

/** The parameters that differ from `defaults`; the others are null, which removes them. */
export function writeViewState(state: ViewState, defaults: ViewState = {}): ViewStateParams {
  const params = paramsOf(state);
  const defaultParams = paramsOf(defaults);
  const written: Record<ViewStateParam, string | null> = { ...params };
  for (const param of Object.keys(params) as ViewStateParam[]) {
    if (params[param] === defaultParams[param]) written[param] = null;
    else written[param] ??= '';
  }
  if (written.follow === '') written.follow = '0';
  return written;
}

/** The view state of query parameters; invalid parameters leave the default. */
export function readViewState(
  get: (name: ViewStateParam) => string | null,
  defaults: ViewState = {},
): ReadViewState {
  const state: { -readonly [Name in keyof ViewState]: ViewState[Name] } = { ...defaults };
  const ignored: ViewStateParam[] = [];
  const take = <Name extends keyof ViewState>(
    from: ViewStateParam,
    to: Name,
    read: (text: string) => ViewState[Name],
  ): void => {
    const text = get(from);
    if (text === null) return;
    if (text === '') {
      delete state[to];
      return;
    }
    const value = read(text);
    if (value === undefined) ignored.push(from);
    else state[to] = value;
  };
  take('search', 'search', (text) => (text.length <= MAX_SEARCH_LENGTH ? text : undefined));
  take('order', 'order', readOrder);
  take('filter', 'filters', readFilters);
  take('row', 'position', (text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER, -1));
  take('follow', 'follow', readBoolean);
  take('page', 'page', (text) => wholeNumber(text, 1, MAX_PAGE, 0));
  if (state.follow === false) delete state.follow;
  if (state.follow) delete state.position;
  return { state, ignored };
}

/** Whether two states look the same on the screen. */
export function sameViewState(one: ViewState, other: ViewState): boolean {
  return JSON.stringify(paramsOf(one)) === JSON.stringify(paramsOf(other));
}

function paramsOf(state: ViewState): Record<ViewStateParam, string | null> {
  return {
    search: state.search || null,
    order: state.order?.length ? state.order.map(orderParam).join(',') : null,
    filter: state.filters?.length ? JSON.stringify(state.filters) : null,
    // While the table follows the newest rows, it has no fixed position.
    row: state.position && !state.follow ? String(state.position + 1) : null,
    follow: state.follow ? '1' : null,
    page: state.page ? String(state.page) : null,
  };
}

function orderParam({ column, descending, nulls }: OrderBy): string {
  return `${descending ? '-' : ''}${column}${nulls === 'first' ? ':first' : ''}`;
}

function readOrder(text: string): readonly OrderBy[] | undefined {
  const parts = text.split(',');
  const order: OrderBy[] = [];
  for (const part of parts) {
    const match = /^(-?)([A-Za-z_]\w*)(?::(first|last))?$/.exec(part);
    if (!match || parts.length > MAX_ORDERS) return undefined;
    order.push({
      column: match[2]!,
      ...(match[1] ? { descending: true } : {}),
      ...(match[3] === 'first' ? { nulls: 'first' as const } : {}),
    });
  }
  return new Set(order.map(({ column }) => column)).size === order.length ? order : undefined;
}

function readFilters(text: string): readonly Condition[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed) || parsed.length > MAX_CONDITIONS) return undefined;
  return parsed.every(isCondition) ? parsed.map(plainCondition) : undefined;
}

function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const { column, op, value: operand, ignore_case } = value as Record<string, unknown>;
  if (typeof column !== 'string' || typeof op !== 'string' || !Object.hasOwn(ARITY, op)) {
    return false;
  }
  if (ignore_case !== undefined && typeof ignore_case !== 'boolean') return false;
  const list = Array.isArray(operand) && operand.every(isScalar);
  switch (ARITY[op as Operator]) {
    case 'none':
      return operand === undefined;
    case 'one':
      return isScalar(operand);
    case 'two':
      return list && operand.length === 2;
    case 'list':
      return list;
  }
}

/** Only the fields of a condition: a gateway refuses others that a link may have. */
function plainCondition({ column, op, value, ignore_case }: Condition): Condition {
  return {
    column,
    op,
    ...(value === undefined ? {} : { value }),
    ...(ignore_case ? { ignore_case } : {}),
  };
}

function isScalar(value: unknown): value is FilterValue {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function readBoolean(text: string): boolean | undefined {
  return text === '1' ? true : text === '0' ? false : undefined;
}

function wholeNumber(text: string, least: number, most: number, shift: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  return number >= least && number <= most ? number + shift : undefined;
}
