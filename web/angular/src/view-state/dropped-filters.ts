import type { Column, ColumnType, Condition, FilterValue, OrderBy } from '@evergrid/client';
import type { ViewState, ViewStateChange } from './view-state.js';
import { conditionText, accepts, valuesOf } from '../filter/filter-operators.js';

/**
 * A filter or a part of the order that was dropped, because the table's columns have changed. It is
 * kept for the message about it, and for restoring it.
 */
export interface DroppedPart {
  readonly column: string;
  readonly description: string;
  readonly part: { readonly filter: Condition } | { readonly order: OrderBy };
}

/** The parts of a state that do not fit these columns; `before` are the earlier columns. */
export function droppedParts(
  { filters = [], order = [] }: ViewState,
  columns: readonly Column[],
  before: readonly Column[],
): readonly DroppedPart[] {
  return [
    ...filters
      .filter((filter) => !fits(filter, named(columns, filter.column)))
      .map((filter) => ({
        column: filter.column,
        description: conditionText(filter, named([...before, ...columns], filter.column)),
        part: { filter },
      })),
    ...order
      .filter(({ column }) => !named(columns, column))
      .map((one) => ({ column: one.column, description: orderText(one), part: { order: one } })),
  ];
}

/** Removes the parts from a state. */
export function withoutDropped(
  { filters, order }: ViewState,
  dropped: readonly DroppedPart[],
): ViewStateChange {
  const parts = new Set<object>(dropped.map(({ part }) => Object.values(part)[0] as object));
  const stays = (one: object): boolean => !parts.has(one);
  return { filters: filters?.filter(stays), order: order?.filter(stays), position: undefined };
}

/** Restores the parts, except for columns that have another filter or order by now. */
export function withDropped(
  { filters = [], order = [] }: ViewState,
  dropped: readonly DroppedPart[],
): ViewStateChange {
  const parts = dropped.map(({ part }) => part);
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

/** Whether the part fits these columns. */
export function canRestore({ column, part }: DroppedPart, columns: readonly Column[]): boolean {
  const found = named(columns, column);
  return 'filter' in part ? fits(part.filter, found) : found !== undefined;
}

/** Which parts were dropped, and why; empty if none were. */
export function droppedMessage(
  dropped: readonly DroppedPart[],
  columns: readonly Column[],
): string {
  if (!dropped.length) return '';
  const names = [...new Set(dropped.map(({ column }) => column))];
  const gone = names.filter((name) => !named(columns, name));
  const changed = names.flatMap((name) => named(columns, name) ?? []);
  const sentences = [
    ...(gone.length ? [`This table has no ${noun(gone)} ${listed(gone)} now.`] : []),
    ...changed.map(({ name, type }) => `The column ${name} holds ${KINDS[type.kind]} now.`),
  ];
  return `${sentences.join(' ')} Removed: ${dropped.map(({ description }) => description).join('; ')}.`;
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

function orderText({ column, descending }: OrderBy): string {
  return `order by ${column}${descending ? ', descending' : ''}`;
}

/** A check like the gateway's; where the gateway is stricter, it reports an error. */
function fits(condition: Condition, column: Column | undefined): boolean {
  if (!column || !accepts(condition.op, column.type)) return false;
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
