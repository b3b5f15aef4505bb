import type { Column, ColumnType, Condition, FilterValue, Operator } from '@evergrid/client';
import { arityOf, valuesOf } from './operators.js';

/** A filter as it stands in a form: texts, as somebody types them. */
export interface Entry {
  readonly op: Operator;
  readonly texts: readonly string[];
  readonly ignoreCase: boolean;
}

/** What a form's texts mean, or beside which field what is wrong. */
export type Reading =
  { readonly condition: Condition } | { readonly field: number; readonly wrong: string };

type Parsed = { readonly value: FilterValue } | { readonly wrong: string };

/** Reads a form; `before` is the condition that it began with. */
export function readEntry(column: Column, entry: Entry, before?: Condition): Reading {
  const { op, ignoreCase } = entry;
  const arity = arityOf(op);
  const base = { column: column.name, op, ...caseOf(column.type, op, ignoreCase) };
  if (arity === 'none') return { condition: { column: column.name, op } };
  const texts = arity === 'list' ? listOf(entry.texts[0] ?? '') : entry.texts;
  const wanted = arity === 'list' ? texts.length : arity === 'two' ? 2 : 1;
  if (wanted === 0) return { field: 0, wrong: 'Write at least one value, one on each line.' };
  const values: FilterValue[] = [];
  for (let index = 0; index < wanted; index += 1) {
    const parsed = parse(texts[index] ?? '', column.type, before);
    if ('wrong' in parsed) return { field: arity === 'list' ? 0 : index, wrong: parsed.wrong };
    values.push(parsed.value);
  }
  return { condition: { ...base, value: arity === 'one' ? values[0]! : values } };
}

/** The form of a condition. */
export function entryOf(condition: Condition, type: ColumnType): Entry {
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
    return text === '' ? { wrong: 'Write what to look for.' } : { value: text };
  }
  const word = text.trim();
  if (word === '') return { wrong: EMPTY[type.kind] };
  switch (type.kind) {
    case 'boolean':
      return { value: word === 'true' };
    case 'integer':
      return integer(word);
    case 'decimal':
      return DECIMAL.test(word) ? { value: word } : { wrong: EMPTY.decimal };
    case 'float':
      return DECIMAL.test(word) ? { value: Number(word) } : { wrong: EMPTY.float };
    case 'timestamp':
      return time(word, before);
  }
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const EMPTY = {
  boolean: 'Choose yes or no.',
  integer: 'Write a whole number, like 42.',
  decimal: 'Write a number with a point, like 12.50.',
  float: 'Write a number with a point, like 0.25.',
  timestamp: 'Choose a day and a time.',
} as const;

/** Beyond 2^53 an integer goes as a text, which keeps its last digits. */
function integer(word: string): Parsed {
  if (!/^[+-]?\d+$/.test(word)) return { wrong: EMPTY.integer };
  const value = Number(word);
  return { value: Number.isSafeInteger(value) ? value : word.replace(/^\+/, '') };
}

/** A field has milliseconds; a time that nobody touched keeps its microseconds. */
function time(word: string, before: Condition | undefined): Parsed {
  const type = { kind: 'timestamp' } as const;
  const kept = before && valuesOf(before).find((value) => fieldText(value, type) === word);
  if (kept !== undefined) return { value: kept };
  const date = new Date(word);
  return Number.isNaN(date.getTime()) ? { wrong: EMPTY.timestamp } : { value: date.toISOString() };
}

function fieldText(value: FilterValue, type: ColumnType): string {
  if (type.kind !== 'timestamp') return String(value);
  const date = new Date(typeof value === 'number' ? value / 1000 : String(value));
  return Number.isNaN(date.getTime()) ? '' : localText(date);
}

/** A moment as a field for day and time wants it: local, without a zone. */
export function localText(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const clock = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  const rest = date.getMilliseconds();
  return `${day}T${clock}${rest ? `.${String(rest).padStart(3, '0')}` : ''}`;
}
