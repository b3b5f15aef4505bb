import { describe, expect, test } from 'vitest';
import type { Column, ColumnType, Condition } from '@evergrid/client';
import {
  canRestore,
  droppedMessage,
  droppedParts,
  withDropped,
  withoutDropped,
  type DroppedPart,
} from './dropped-filters.js';

const column = (name: string, kind: string): Column => ({
  name,
  type: { kind } as ColumnType,
  role: 'data',
});
const BEFORE = [column('name', 'text'), column('age', 'integer'), column('since', 'timestamp')];

function dropFilter(filter: Condition, kind: string): readonly DroppedPart[] {
  return droppedParts({ filters: [filter] }, [column('age', kind)], BEFORE);
}

describe('parts that do not fit the columns', () => {
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
    const dropped = dropFilter(filter, kind);
    expect(dropped).toHaveLength(can ? 0 : 1);
    for (const one of dropped) expect(canRestore(one, [column('age', kind)])).toBe(false);
  });

  const state = {
    search: 'sato',
    position: 7,
    filters: [
      { column: 'age', op: 'greater', value: 30 },
      { column: 'name', op: 'not_null' },
    ],
    order: [{ column: 'since', descending: true }, { column: 'name' }],
  } as const;
  const dropped = droppedParts(state, [column('name', 'text')], BEFORE);

  test('are removed, and the others stay', () => {
    expect(withoutDropped(state, dropped)).toEqual({
      filters: [state.filters[1]],
      order: [{ column: 'name' }],
      position: undefined,
    });
  });

  test('are described in the message', () => {
    expect(droppedMessage(dropped, [column('name', 'text')])).toBe(
      'This table has no columns age and since now. ' +
        'Removed: age greater than 30; order by since, descending.',
    );
    expect(droppedMessage(dropped.slice(0, 1), [column('age', 'text')])).toBe(
      'The column age holds text now. Removed: age greater than 30.',
    );
    expect(droppedMessage([], BEFORE)).toBe('');
  });

  test('are restored where the user has not chosen something else', () => {
    expect(dropped.map((one) => canRestore(one, BEFORE))).toEqual([true, true]);
    const later = { filters: [{ column: 'age', op: 'is_null' }] } as const;
    expect(withDropped(later, dropped)).toEqual({
      filters: later.filters,
      order: [{ column: 'since', descending: true }],
      position: undefined,
    });
    expect(withDropped({}, dropped).filters).toEqual([{ column: 'age', op: 'greater', value: 30 }]);
  });
});
