import type { Look } from '@evergrid/angular';
import type { Condition, FilterValue, Operator, OrderBy } from '@evergrid/client';

/**
 * A table's look as words of an address, and back: `search=sato&order=-balance,name&row=1201`.
 *
 * The words are the ones of the gateway's HTTP parameters where there are such. `row` counts from
 * 1, as the table itself does on the screen.
 */
export type LookWords = Readonly<Record<LookWord, string | null>>;

export type LookWord = 'search' | 'order' | 'filter' | 'row' | 'follow' | 'page';

export interface ReadLook {
  readonly look: Look;
  /** Words of the address that say nothing a table could do; they are left out of `look`. */
  readonly unread: readonly LookWord[];
}

const LONGEST_SEARCH = 256;
const MOST_ORDERS = 16;
const MOST_CONDITIONS = 100;
const LARGEST_PAGE = 5000;

const VALUES: Readonly<Record<Operator, 'none' | 'one' | 'two' | 'list'>> = {
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

/** What differs from `usual`; null for what does not, so that it vanishes from the address. */
export function writeLook(look: Look, usual: Look = {}): LookWords {
  const words = wordsOf(look);
  const plain = wordsOf(usual);
  const written: Record<LookWord, string | null> = { ...words };
  for (const word of Object.keys(words) as LookWord[]) {
    if (words[word] === plain[word]) written[word] = null;
    else written[word] ??= '';
  }
  if (written.follow === '') written.follow = '0';
  return written;
}

/** The look that the words of an address say; whatever makes no sense is left at `usual`. */
export function readLook(word: (name: LookWord) => string | null, usual: Look = {}): ReadLook {
  const look: { -readonly [Name in keyof Look]: Look[Name] } = { ...usual };
  const unread: LookWord[] = [];
  const take = <Name extends keyof Look>(
    from: LookWord,
    to: Name,
    read: (text: string) => Look[Name],
  ): void => {
    const text = word(from);
    if (text === null) return;
    if (text === '') {
      delete look[to];
      return;
    }
    const value = read(text);
    if (value === undefined) unread.push(from);
    else look[to] = value;
  };
  take('search', 'search', (text) => (text.length <= LONGEST_SEARCH ? text : undefined));
  take('order', 'order', readOrder);
  take('filter', 'filters', readFilters);
  take('row', 'position', (text) => wholeNumber(text, 1, Number.MAX_SAFE_INTEGER, -1));
  take('follow', 'follow', readSwitch);
  take('page', 'page', (text) => wholeNumber(text, 1, LARGEST_PAGE, 0));
  if (look.follow === false) delete look.follow;
  if (look.follow) delete look.position;
  return { look, unread };
}

/** Whether two looks are the same on the screen. */
export function sameLook(one: Look, other: Look): boolean {
  return JSON.stringify(wordsOf(one)) === JSON.stringify(wordsOf(other));
}

function wordsOf(look: Look): Record<LookWord, string | null> {
  return {
    search: look.search || null,
    order: look.order?.length ? look.order.map(orderWord).join(',') : null,
    filter: look.filters?.length ? JSON.stringify(look.filters) : null,
    // One who follows the newest rows is at no place of their own.
    row: look.position && !look.follow ? String(look.position + 1) : null,
    follow: look.follow ? '1' : null,
    page: look.page ? String(look.page) : null,
  };
}

function orderWord({ column, descending, nulls }: OrderBy): string {
  return `${descending ? '-' : ''}${column}${nulls === 'first' ? ':first' : ''}`;
}

function readOrder(text: string): readonly OrderBy[] | undefined {
  const parts = text.split(',');
  const order: OrderBy[] = [];
  for (const part of parts) {
    const match = /^(-?)([A-Za-z_]\w*)(?::(first|last))?$/.exec(part);
    if (!match || parts.length > MOST_ORDERS) return undefined;
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
  if (!Array.isArray(parsed) || parsed.length > MOST_CONDITIONS) return undefined;
  return parsed.every(isCondition) ? parsed.map(plainCondition) : undefined;
}

function isCondition(value: unknown): value is Condition {
  if (typeof value !== 'object' || value === null) return false;
  const { column, op, value: operand, ignore_case } = value as Record<string, unknown>;
  if (typeof column !== 'string' || typeof op !== 'string' || !Object.hasOwn(VALUES, op)) {
    return false;
  }
  if (ignore_case !== undefined && typeof ignore_case !== 'boolean') return false;
  const list = Array.isArray(operand) && operand.every(isScalar);
  switch (VALUES[op as Operator]) {
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

/** Only what a condition has: a gateway refuses whatever else a link may carry. */
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

function readSwitch(text: string): boolean | undefined {
  return text === '1' ? true : text === '0' ? false : undefined;
}

function wholeNumber(text: string, least: number, most: number, shift: number): number | undefined {
  const number = /^\d+$/.test(text) ? Number(text) : NaN;
  return number >= least && number <= most ? number + shift : undefined;
}
