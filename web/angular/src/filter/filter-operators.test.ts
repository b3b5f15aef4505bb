import { describe, expect, test } from 'vitest';
import type { Column, ColumnType } from '@evergrid/client';
import { conditionText, operatorsFor } from './filter-operators.js';

function column(type: ColumnType, name = 'x'): Column {
  return { name, type, role: 'data' };
}

const text = column({ kind: 'text' });
const integer = column({ kind: 'integer' });
const decimal = column({ kind: 'decimal', precision: 18, scale: 2 });

describe('filters as text', () => {
  test.each([
    [{ column: 'x', op: 'contains', value: 'Mei' }, text, 'x contains “Mei”'],
    [{ column: 'x', op: 'between', value: [1, 2] }, integer, 'x between 1 and 2'],
    [{ column: 'x', op: 'in', value: [1, 2, 3, 4] }, integer, 'x is one of 1, 2, 3 … (4)'],
    [{ column: 'x', op: 'is_null' }, decimal, 'x is empty'],
    [{ column: 'gone', op: 'equals', value: 1 }, undefined, 'gone is “1”'],
  ] as const)('%o', (condition, of, words) => {
    expect(conditionText(condition, of)).toBe(words);
  });

  test('offer only operators that the gateway has for the type', () => {
    const ops = (type: ColumnType): string[] => operatorsFor(type).map(({ op }) => op);
    expect(ops(text.type)[0]).toBe('contains');
    expect(ops(integer.type)).not.toContain('contains');
    expect(ops({ kind: 'boolean' })).toEqual(['equals', 'not', 'is_null', 'not_null']);
  });
});
