import { describe, expect, test } from 'vitest';
import { Echo } from '../src/echo.js';
import {
  changed,
  clickedOrder,
  queryOf,
  sameLook,
  sameQuestion,
  withCondition,
} from '../src/look.js';

describe('a look', () => {
  test('does not carry what is the default', () => {
    const look = { search: 'a', order: [{ column: 'x' }], position: 5, follow: true, page: 300 };
    const empty = {
      search: '',
      order: [],
      filters: [],
      position: 0,
      follow: false,
      page: undefined,
    };
    expect(changed(look, empty)).toEqual({});
  });

  test('is the same whatever way its words came', () => {
    const one = {
      filters: [{ column: 'x', op: 'equals', value: 1 }],
      order: [{ column: 'x' }],
    } as const;
    const other = {
      order: [{ nulls: 'last', descending: false, column: 'x' }],
      filters: [{ value: 1, op: 'equals', column: 'x', ignore_case: false }],
      position: 0,
    } as const;
    expect(sameLook(one, other)).toBe(true);
    expect(sameLook(one, { ...other, position: 1 })).toBe(false);
    expect(sameQuestion(one, { ...other, position: 1, page: 50 })).toBe(true);
  });

  test('asks the gateway for what all its filters leave', () => {
    const young = { column: 'age', op: 'less', value: 30 } as const;
    const named = { column: 'name', op: 'not_null' } as const;
    expect(queryOf({})).toEqual({});
    expect(queryOf({ filters: [young], search: ' mei ' })).toEqual({
      filter: young,
      search: 'mei',
    });
    expect(queryOf({ filters: [young, named] })).toEqual({ filter: { and: [young, named] } });
  });

  test('has one filter a column', () => {
    const first = { column: 'a', op: 'equals', value: 1 } as const;
    const second = { column: 'a', op: 'equals', value: 2 } as const;
    expect(withCondition([first], 'a', second)).toEqual([second]);
    expect(withCondition([first], 'a', undefined)).toEqual([]);
  });
});

describe('clicks on a header', () => {
  test('order ascending, then descending, then not at all', () => {
    const once = clickedOrder(undefined, 'a', false);
    const twice = clickedOrder(once, 'a', false);
    expect([once, twice, clickedOrder(twice, 'a', false)]).toEqual([
      [{ column: 'a' }],
      [{ column: 'a', descending: true }],
      [],
    ]);
  });

  test('with Shift order by several columns, each in its place', () => {
    const both = clickedOrder([{ column: 'a' }], 'b', true);
    expect(both).toEqual([{ column: 'a' }, { column: 'b' }]);
    expect(clickedOrder(both, 'a', true)).toEqual([
      { column: 'a', descending: true },
      { column: 'b' },
    ]);
    expect(clickedOrder([{ column: 'a', descending: true }], 'a', true)).toEqual([]);
  });

  test('without Shift replace the order', () => {
    expect(clickedOrder([{ column: 'a' }, { column: 'b' }], 'c', false)).toEqual([{ column: 'c' }]);
  });
});

describe('a look that comes back from an address', () => {
  test('is known, once, even late', () => {
    const echo = new Echo(() => 0);
    echo.give({ search: 'm' });
    echo.give({ search: 'me' });
    expect(echo.isEcho({ search: 'm' })).toBe(true);
    expect(echo.isEcho({ search: 'me' })).toBe(true);
    expect(echo.isEcho({ search: 'm' })).toBe(false);
  });

  test('is not expected after a later one', () => {
    const echo = new Echo(() => 0);
    echo.give({ position: 1 });
    echo.give({ position: 2 });
    expect(echo.isEcho({ position: 2 })).toBe(true);
    expect(echo.isEcho({ position: 1 })).toBe(false);
  });

  test('is somebody’s choice when it was given long ago', () => {
    let now = 0;
    const echo = new Echo(() => now);
    echo.give({ search: 'm' });
    now = 60_000;
    expect(echo.isEcho({ search: 'm' })).toBe(false);
  });
});
