import type { Column, ColumnType, Condition, FilterValue, Operator } from '@evergrid/client';
import { arityOf, valuesOf } from './filter-operators.js';

/** The contents of a filter form: texts, as the user types them. */
export interface FilterEntry {
  readonly op: Operator;
  readonly texts: readonly string[];
  readonly ignoreCase: boolean;
}

/** The condition of a form, or an error in one of its fields. */
export type EntryResult = { readonly condition: Condition } | FieldError;

export interface FieldError {
  readonly field: number;
  readonly error: string;
}

type Parsed = { readonly value: FilterValue } | { readonly error: string };

/** Parses a form; `before` is the condition that it started with. */
export function parseEntry(column: Column, entry: FilterEntry, before?: Condition): EntryResult {
  const { op, ignoreCase } = entry;
  const arity = arityOf(op);
  const base = { column: column.name, op, ...caseOf(column.type, op, ignoreCase) };
  if (arity === 'none') return { condition: { column: column.name, op } };
  const texts = arity === 'list' ? listOf(entry.texts[0] ?? '') : entry.texts;
  const wanted = arity === 'list' ? texts.length : arity === 'two' ? 2 : 1;
  if (wanted === 0) return { field: 0, error: 'Enter at least one value, one on each line.' };
  const values: FilterValue[] = [];
  for (let index = 0; index < wanted; index += 1) {
    const parsed = parse(texts[index] ?? '', column.type, before);
    if ('error' in parsed) return { field: arity === 'list' ? 0 : index, error: parsed.error };
    values.push(parsed.value);
  }
  return { condition: { ...base, value: arity === 'one' ? values[0]! : values } };
}

/** The form for a condition. */
export function entryOf(condition: Condition, type: ColumnType): FilterEntry {
  const texts = valuesOf(condition).map((value) => fieldText(value, type));
  const list = arityOf(condition.op) === 'list';
  return {
    op: condition.op,
    texts: list ? [texts.join('\n')] : texts,
    ignoreCase: condition.ignore_case ?? false,
  };
}

function caseOf(type: ColumnType, op: Operator, ignore: boolean): { ignore_case?: boolean } {
  return type.kind === 'text' && ignore && arityOf(op) !== 'none' ? { ignore_case: true } : {};
}

function listOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

function parse(text: string, type: ColumnType, before: Condition | undefined): Parsed {
  if (type.kind === 'text') {
    return text === '' ? { error: 'Enter a text.' } : { value: text };
  }
  const word = text.trim();
  if (word === '') return { error: EXPECTED[type.kind] };
  switch (type.kind) {
    case 'boolean':
      return { value: word === 'true' };
    case 'integer':
      return integer(word);
    case 'decimal':
      return DECIMAL.test(word) ? { value: word } : { error: EXPECTED.decimal };
    case 'float':
      return DECIMAL.test(word) ? { value: Number(word) } : { error: EXPECTED.float };
    case 'timestamp':
      return time(word, before);
  }
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const EXPECTED = {
  boolean: 'Choose yes or no.',
  integer: 'Enter a whole number, like 42.',
  decimal: 'Enter a number with a decimal point, like 12.50.',
  float: 'Enter a number with a decimal point, like 0.25.',
  timestamp: 'Choose a date and a time.',
} as const;

/** An integer beyond 2^53 is sent as a string, which keeps all digits. */
function integer(word: string): Parsed {
  if (!/^[+-]?\d+$/.test(word)) return { error: EXPECTED.integer };
  const value = Number(word);
  return { value: Number.isSafeInteger(value) ? value : word.replace(/^\+/, '') };
}

/** The field has milliseconds; a time that was not edited keeps its microseconds. */
function time(word: string, before: Condition | undefined): Parsed {
  const type = { kind: 'timestamp' } as const;
  const kept = before && valuesOf(before).find((value) => fieldText(value, type) === word);
  if (kept !== undefined) return { value: kept };
  const date = new Date(word);
  return Number.isNaN(date.getTime())
    ? { error: EXPECTED.timestamp }
    : { value: date.toISOString() };
}

function fieldText(value: FilterValue, type: ColumnType): string {
  if (type.kind !== 'timestamp') return String(value);
  const date = new Date(typeof value === 'number' ? value / 1000 : String(value));
  return Number.isNaN(date.getTime()) ? '' : localText(date);
}

/** A time for a datetime-local field: local, without a zone. */
export function localText(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const rest = date.getMilliseconds();
  return `${day}T${clock}${rest ? `.${String(rest).padStart(3, '0')}` : ''}`;
}
