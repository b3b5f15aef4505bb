import { describe, expect, test } from 'vitest';
import type { Column, ColumnType, Condition } from '@evergrid/client';
import {
  isPossible,
  lapseSentence,
  lapsesOf,
  withLapses,
  withoutLapses,
  type Lapse,
} from '../src/lapse.js';
import { merged, ordered } from '../src/memory.js';

const column = (name: string, kind: string): Column => ({
  name,
  type: { kind } as ColumnType,
  role: 'data',
});
const BEFORE = [column('name', 'text'), column('age', 'integer'), column('since', 'timestamp')];

function lapse(filter: Condition, kind: string): readonly Lapse[] {
  return lapsesOf({ filters: [filter] }, [column('age', kind)], BEFORE);
}

describe('what columns cannot answer', () => {
  test.each<[Condition, string, boolean]>([
    [{ column: 'age', op: 'greater', value: 30 }, 'integer', true],
    [{ column: 'age', op: 'greater', value: 30 }, 'decimal', true],
    [{ column: 'age', op: 'greater', value: '9007199254740993' }, 'integer', true],
    [{ column: 'age', op: 'greater', value: 30 }, 'text', false],
    [{ column: 'age', op: 'greater', value: 30 }, 'boolean', false],
    [{ column: 'age', op: 'not', value: true }, 'boolean', true],
    [{ column: 'age', op: 'between', value: [1, 'many'] }, 'integer', false],
    [{ column: 'age', op: 'in', value: ['a', 'b'] }, 'text', true],
    [{ column: 'age', op: 'in', value: ['a', 'b'] }, 'float', false],
    [{ column: 'age', op: 'contains', value: '3' }, 'text', true],
    [{ column: 'age', op: 'contains', value: '3' }, 'integer', false],
    [{ column: 'age', op: 'equals', value: '3', ignore_case: true }, 'integer', false],
    [{ column: 'age', op: 'less', value: '2026-01-31T12:00:00Z' }, 'timestamp', true],
    [{ column: 'age', op: 'less', value: 'soon' }, 'timestamp', false],
    [{ column: 'age', op: 'is_null' }, 'boolean', true],
    [{ column: 'name', op: 'is_null' }, 'text', false],
  ])('%o of a column of %s: %s', (filter, kind, can) => {
    const lapses = lapse(filter, kind);
    expect(lapses).toHaveLength(can ? 0 : 1);
    for (const one of lapses) expect(isPossible(one, [column('age', kind)])).toBe(false);
  });

  const look = {
    search: 'sato',
    position: 7,
    filters: [
      { column: 'age', op: 'greater', value: 30 },
      { column: 'name', op: 'not_null' },
    ],
    order: [{ column: 'since', descending: true }, { column: 'name' }],
  } as const;
  const lapses = lapsesOf(look, [column('name', 'text')], BEFORE);

  test('is taken out, and the rest stays', () => {
    expect(withoutLapses(look, lapses)).toEqual({
      filters: [look.filters[1]],
      order: [{ column: 'name' }],
      position: undefined,
    });
  });

  test('is told in words', () => {
    expect(lapseSentence(lapses, [column('name', 'text')])).toBe(
      'This table has no columns age and since now. ' +
        'Taken out: age greater than 30; order by since, descending.',
    );
    expect(lapseSentence(lapses.slice(0, 1), [column('age', 'text')])).toBe(
      'The column age holds text now. Taken out: age greater than 30.',
    );
    expect(lapseSentence([], BEFORE)).toBe('');
  });

  test('comes back where nobody asks for something else by now', () => {
    expect(lapses.map((one) => isPossible(one, BEFORE))).toEqual([true, true]);
    const later = { filters: [{ column: 'age', op: 'is_null' }] } as const;
    expect(withLapses(later, lapses)).toEqual({
      filters: later.filters,
      order: [{ column: 'since', descending: true }],
      position: undefined,
    });
    expect(withLapses({}, lapses).filters).toEqual([{ column: 'age', op: 'greater', value: 30 }]);
  });
});

describe('columns that are away', () => {
  const wide = { name: 'b', width: 300, pinned: 'left' as const };

  test('are remembered where they were', () => {
    expect(merged([{ name: 'a' }, wide, { name: 'c' }], [{ name: 'c' }, { name: 'a' }])).toEqual([
      { name: 'c' },
      { name: 'a' },
      wide,
    ]);
    expect(merged([wide], [{ name: 'a' }])).toEqual([wide, { name: 'a' }]);
    expect(merged([{ name: 'a', hidden: true }], [{ name: 'a' }])).toEqual([{ name: 'a' }]);
  });

  test('are there again when they come back, and new ones beside their neighbours', () => {
    const arranged = [{ name: 'c' }, wide, { name: 'gone' }];
    expect(ordered(['a', 'b', 'new', 'c', 'd'], arranged)).toEqual([
      'a',
      { name: 'c' },
      'd',
      wide,
      'new',
    ]);
    expect(ordered(['a', 'b'], [])).toEqual(['a', 'b']);
  });
});
