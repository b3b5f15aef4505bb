import { describe, expect, test } from 'vitest';
import {
  withChange,
  orderAfterClick,
  queryOf,
  sameViewState,
  sameQuery,
  withCondition,
} from './view-state.js';

describe('a view state', () => {
  test('has no fields with their default', () => {
    const state = { search: 'a', order: [{ column: 'x' }], position: 5, follow: true, page: 300 };
    const empty = {
      search: '',
      order: [],
      filters: [],
      position: 0,
      follow: false,
      page: undefined,
    };
    expect(withChange(state, empty)).toEqual({});
  });

  test('is the same whatever the order of its fields', () => {
    const one = {
      filters: [{ column: 'x', op: 'equals', value: 1 }],
      order: [{ column: 'x' }],
    } as const;
    const other = {
      order: [{ nulls: 'last', descending: false, column: 'x' }],
      filters: [{ value: 1, op: 'equals', column: 'x', ignore_case: false }],
      position: 0,
    } as const;
    expect(sameViewState(one, other)).toBe(true);
    expect(sameViewState(one, { ...other, position: 1 })).toBe(false);
    expect(sameQuery(one, { ...other, position: 1, page: 50 })).toBe(true);
  });

  test('combines all its filters in the query', () => {
    const young = { column: 'age', op: 'less', value: 30 } as const;
    const named = { column: 'name', op: 'not_null' } as const;
    expect(queryOf({})).toEqual({});
    expect(queryOf({ filters: [young], search: ' mei ' })).toEqual({
      filter: young,
      search: 'mei',
    });
    expect(queryOf({ filters: [young, named] })).toEqual({ filter: { and: [young, named] } });
  });

  test('has one filter for each column', () => {
    const first = { column: 'a', op: 'equals', value: 1 } as const;
    const second = { column: 'a', op: 'equals', value: 2 } as const;
    expect(withCondition([first], 'a', second)).toEqual([second]);
    expect(withCondition([first], 'a', undefined)).toEqual([]);
  });
});

describe('a click on a header', () => {
  test('orders ascending, then descending, then not at all', () => {
    const once = orderAfterClick(undefined, 'a', false);
    const twice = orderAfterClick(once, 'a', false);
    expect([once, twice, orderAfterClick(twice, 'a', false)]).toEqual([
      [{ column: 'a' }],
      [{ column: 'a', descending: true }],
      [],
    ]);
  });

  test('with Shift orders by several columns', () => {
    const both = orderAfterClick([{ column: 'a' }], 'b', true);
    expect(both).toEqual([{ column: 'a' }, { column: 'b' }]);
    expect(orderAfterClick(both, 'a', true)).toEqual([
      { column: 'a', descending: true },
      { column: 'b' },
    ]);
    expect(orderAfterClick([{ column: 'a', descending: true }], 'a', true)).toEqual([]);
  });

  test('without Shift replaces the order', () => {
    expect(orderAfterClick([{ column: 'a' }, { column: 'b' }], 'c', false)).toEqual([
      { column: 'c' },
    ]);
  });
});
