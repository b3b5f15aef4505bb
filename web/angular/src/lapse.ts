import type { Column, ColumnType, Condition, FilterValue, OrderBy } from '@evergrid/client';
import type { Look, LookChange } from './look.js';
import { conditionWords, isFor, valuesOf } from './operators.js';

/**
 * A filter or a part of the order that was taken out of a look, because the table has become one
 * that cannot answer it. It is kept, to say so, and for whoever wants it back.
 */
export interface Lapse {
  readonly column: string;
  readonly words: string;
  readonly part: { readonly filter: Condition } | { readonly order: OrderBy };
}

/** What a look asks that these columns cannot answer; `before` has them as they were known. */
export function lapsesOf(
  { filters = [], order = [] }: Look,
  columns: readonly Column[],
  before: readonly Column[],
): readonly Lapse[] {
  return [
    ...filters
      .filter((filter) => !fits(filter, named(columns, filter.column)))
      .map((filter) => ({
        column: filter.column,
        words: conditionWords(filter, named([...before, ...columns], filter.column)),
        part: { filter },
      })),
    ...order
      .filter(({ column }) => !named(columns, column))
      .map((one) => ({ column: one.column, words: orderWords(one), part: { order: one } })),
  ];
}

/** A look without them. */
export function withoutLapses({ filters, order }: Look, lapses: readonly Lapse[]): LookChange {
  const parts = new Set<object>(lapses.map(({ part }) => Object.values(part)[0] as object));
  const stays = (one: object): boolean => !parts.has(one);
  return { filters: filters?.filter(stays), order: order?.filter(stays), position: undefined };
}

/** A look with them again, each where nobody has asked for something else by now. */
export function withLapses(
  { filters = [], order = [] }: Look,
  lapses: readonly Lapse[],
): LookChange {
  const parts = lapses.map(({ part }) => part);
  const more = parts.flatMap((part) => ('filter' in part ? [part.filter] : []));
  const orders = parts.flatMap((part) => ('order' in part ? [part.order] : []));
  const isNew =
    (held: readonly { readonly column: string }[]) =>
    ({ column }: { readonly column: string }): boolean =>
      !held.some((one) => one.column === column);
  return {
    filters: [...filters, ...more.filter(isNew(filters))],
    order: [...order, ...orders.filter(isNew(order))],
    position: undefined,
  };
}

/** Whether these columns could answer it. */
export function isPossible({ column, part }: Lapse, columns: readonly Column[]): boolean {
  const there = named(columns, column);
  return 'filter' in part ? fits(part.filter, there) : there !== undefined;
}

/** Why they are off, and which they are, for people. */
export function lapseSentence(lapses: readonly Lapse[], columns: readonly Column[]): string {
  if (!lapses.length) return '';
  const names = [...new Set(lapses.map(({ column }) => column))];
  const gone = names.filter((name) => !named(columns, name));
  const changed = names.flatMap((name) => named(columns, name) ?? []);
  const sentences = [
    ...(gone.length ? [`This table has no ${noun(gone)} ${listed(gone)} now.`] : []),
    ...changed.map(({ name, type }) => `The column ${name} holds ${KINDS[type.kind]} now.`),
  ];
  return `${sentences.join(' ')} Taken out: ${lapses.map(({ words }) => words).join('; ')}.`;
}

const KINDS: Readonly<Record<ColumnType['kind'], string>> = {
  text: 'text',
  integer: 'whole numbers',
  float: 'numbers',
  decimal: 'decimal numbers',
  boolean: 'yes or no',
  timestamp: 'times',
};

function named(columns: readonly Column[], name: string): Column | undefined {
  return columns.find((one) => one.name === name);
}

function noun(names: readonly string[]): string {
  return names.length === 1 ? 'column' : 'columns';
}

function listed(names: readonly string[]): string {
  return names.length > 1
    ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
    : (names[0] ?? '');
}

function orderWords({ column, descending }: OrderBy): string {
  return `order by ${column}${descending ? ', descending' : ''}`;
}

/** As the gateway would judge it; where that is stricter, it says so itself. */
function fits(condition: Condition, column: Column | undefined): boolean {
  if (!column || !isFor(condition.op, column.type)) return false;
  if (condition.ignore_case && column.type.kind !== 'text') return false;
  return valuesOf(condition).every((value) => isValueFor(value, column.type));
}

function isValueFor(value: FilterValue, { kind }: ColumnType): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'timestamp':
      return typeof value === 'number' || (isText(value) && !Number.isNaN(Date.parse(value)));
    default:
      return typeof value === 'number' || (isText(value) && Number.isFinite(Number(value)));
  }
}

function isText(value: FilterValue): value is string {
  return typeof value === 'string' && value.trim() !== '';
}
