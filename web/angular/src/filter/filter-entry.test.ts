import { describe, expect, test } from 'vitest';
import type { Column, ColumnType, Condition } from '@evergrid/client';
import { entryOf, localText, parseEntry } from './filter-entry.js';

function column(type: ColumnType, name = 'x'): Column {
  return { name, type, role: 'data' };
}

const text = column({ kind: 'text' });
const integer = column({ kind: 'integer' });
const decimal = column({ kind: 'decimal', precision: 18, scale: 2 });
const time = column({ kind: 'timestamp' });

function read(of: Column, op: Condition['op'], texts: string[], ignoreCase = false) {
  return parseEntry(of, { op, texts, ignoreCase });
}

describe('an entry of the filter form', () => {
  test('is exact for decimals and large integers', () => {
    expect(read(decimal, 'greater', ['100.10'])).toEqual({
      condition: { column: 'x', op: 'greater', value: '100.10' },
    });
    expect(read(integer, 'equals', [' 42 '])).toEqual({
      condition: { column: 'x', op: 'equals', value: 42 },
    });
    expect(read(integer, 'equals', ['9007199254740993'])).toEqual({
      condition: { column: 'x', op: 'equals', value: '9007199254740993' },
    });
  });

  test.each([
    [integer, '4.5', 'Enter a whole number, like 42.'],
    [integer, '', 'Enter a whole number, like 42.'],
    [decimal, '1,5', 'Enter a number with a decimal point, like 12.50.'],
    [column({ kind: 'float' }), 'abc', 'Enter a number with a decimal point, like 0.25.'],
    [time, '', 'Choose a date and a time.'],
    [text, '', 'Enter a text.'],
  ])('has an error for an invalid text', (of, typed, error) => {
    expect(read(of, 'equals', [typed])).toEqual({ field: 0, error });
  });

  test('says which end of a range is invalid', () => {
    const result = read(integer, 'between', ['1', 'x']);
    expect(result).toEqual({ field: 1, error: 'Enter a whole number, like 42.' });
  });

  test('can be a list with one value a line', () => {
    expect(read(text, 'in', ['a, b\n\nc\n'])).toEqual({
      condition: { column: 'x', op: 'in', value: ['a, b', 'c'] },
    });
    expect(read(text, 'in', ['\n'])).toMatchObject({ field: 0 });
  });

  test('ignores case only for text', () => {
    expect(read(text, 'contains', ['Mei'], true)).toEqual({
      condition: { column: 'x', op: 'contains', value: 'Mei', ignore_case: true },
    });
    expect(read(integer, 'equals', ['1'], true)).toEqual({
      condition: { column: 'x', op: 'equals', value: 1 },
    });
    expect(read(text, 'is_null', [], true)).toEqual({ condition: { column: 'x', op: 'is_null' } });
  });

  test('is local time, and is sent as UTC', () => {
    const local = new Date(2026, 0, 31, 12, 0, 0, 500);
    expect(read(time, 'less', [localText(local)])).toEqual({
      condition: { column: 'x', op: 'less', value: local.toISOString() },
    });
  });

  test('keeps the microseconds of a time that was not edited', () => {
    const before: Condition = { column: 'x', op: 'less', value: '2026-01-31T12:00:00.123456Z' };
    const entry = entryOf(before, time.type);
    expect(parseEntry(time, entry, before)).toEqual({ condition: before });
  });

  test('is restored when the filter is edited', () => {
    const conditions: Condition[] = [
      { column: 'x', op: 'in', value: ['a', 'b'], ignore_case: true },
      { column: 'x', op: 'between', value: ['a', 'b'] },
      { column: 'x', op: 'not_null' },
    ];
    for (const condition of conditions) {
      expect(parseEntry(text, entryOf(condition, text.type))).toEqual({ condition });
    }
  });
});
