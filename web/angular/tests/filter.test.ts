import { describe, expect, test } from 'vitest';
import type { Column, ColumnType, Condition } from '@evergrid/client';
import { entryOf, localText, readEntry } from '../src/entry.js';
import { conditionWords, operatorsFor } from '../src/operators.js';

function column(type: ColumnType, name = 'x'): Column {
  return { name, type, role: 'data' };
}

const text = column({ kind: 'text' });
const integer = column({ kind: 'integer' });
const decimal = column({ kind: 'decimal', precision: 18, scale: 2 });
const time = column({ kind: 'timestamp' });

function read(of: Column, op: Condition['op'], texts: string[], ignoreCase = false) {
  return readEntry(of, { op, texts, ignoreCase });
}

describe('what somebody types into a filter', () => {
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
    [integer, '4.5', 'Write a whole number, like 42.'],
    [integer, '', 'Write a whole number, like 42.'],
    [decimal, '1,5', 'Write a number with a point, like 12.50.'],
    [column({ kind: 'float' }), 'abc', 'Write a number with a point, like 0.25.'],
    [time, '', 'Choose a day and a time.'],
    [text, '', 'Write what to look for.'],
  ])('is refused beside its field when it is wrong', (of, typed, wrong) => {
    expect(read(of, 'equals', [typed])).toEqual({ field: 0, wrong });
  });

  test('says which end of a range is wrong', () => {
    const reading = read(integer, 'between', ['1', 'x']);
    expect(reading).toEqual({ field: 1, wrong: 'Write a whole number, like 42.' });
  });

  test('is a list with one value a line', () => {
    expect(read(text, 'in', ['a, b\n\nc\n'])).toEqual({
      condition: { column: 'x', op: 'in', value: ['a, b', 'c'] },
    });
    expect(read(text, 'in', ['\n'])).toMatchObject({ field: 0 });
  });

  test('may ignore case where letters are compared', () => {
    expect(read(text, 'contains', ['Mei'], true)).toEqual({
      condition: { column: 'x', op: 'contains', value: 'Mei', ignore_case: true },
    });
    expect(read(integer, 'equals', ['1'], true)).toEqual({
      condition: { column: 'x', op: 'equals', value: 1 },
    });
    expect(read(text, 'is_null', [], true)).toEqual({ condition: { column: 'x', op: 'is_null' } });
  });

  test('is local time, and goes to the gateway as UTC', () => {
    const local = new Date(2026, 0, 31, 12, 0, 0, 500);
    expect(read(time, 'less', [localText(local)])).toEqual({
      condition: { column: 'x', op: 'less', value: local.toISOString() },
    });
  });

  test('keeps the microseconds of a time that nobody touched', () => {
    const before: Condition = { column: 'x', op: 'less', value: '2026-01-31T12:00:00.123456Z' };
    const entry = entryOf(before, time.type);
    expect(readEntry(time, entry, before)).toEqual({ condition: before });
  });

  test('is there again when the filter is changed', () => {
    const conditions: Condition[] = [
      { column: 'x', op: 'in', value: ['a', 'b'], ignore_case: true },
      { column: 'x', op: 'between', value: ['a', 'b'] },
      { column: 'x', op: 'not_null' },
    ];
    for (const condition of conditions) {
      expect(readEntry(text, entryOf(condition, text.type))).toEqual({ condition });
    }
  });
});

describe('filters in words', () => {
  test.each([
    [{ column: 'x', op: 'contains', value: 'Mei' }, text, 'x contains “Mei”'],
    [{ column: 'x', op: 'between', value: [1, 2] }, integer, 'x between 1 and 2'],
    [{ column: 'x', op: 'in', value: [1, 2, 3, 4] }, integer, 'x is one of 1, 2, 3 … (4)'],
    [{ column: 'x', op: 'is_null' }, decimal, 'x is empty'],
    [{ column: 'gone', op: 'equals', value: 1 }, undefined, 'gone is “1”'],
  ] as const)('%o', (condition, of, words) => {
    expect(conditionWords(condition, of)).toBe(words);
  });

  test('offer each type only what the gateway can do', () => {
    const ops = (type: ColumnType): string[] => operatorsFor(type).map(({ op }) => op);
    expect(ops(text.type)[0]).toBe('contains');
    expect(ops(integer.type)).not.toContain('contains');
    expect(ops({ kind: 'boolean' })).toEqual(['equals', 'not', 'is_null', 'not_null']);
  });
});
