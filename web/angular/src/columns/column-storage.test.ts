import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  arrangementsOf,
  ColumnStorage,
  mergeArrangements,
  orderColumns,
  statesOf,
} from './column-storage.js';

const KEY = 'evergrid.columns.t';

describe('column storage', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    localStorage.clear();
  });

  test('loads what was saved', () => {
    const storage = new ColumnStorage('t');
    const saved = [
      { name: 'a', width: 90, pinned: 'left' as const },
      { name: 'b', hidden: true },
    ];
    storage.save(saved);
    expect(new ColumnStorage('t').load()).toEqual(saved);
    expect(new ColumnStorage('other').load()).toEqual([]);
    storage.clear();
    expect(storage.load()).toEqual([]);
  });

  test.each(['', '{', '"x"', '[{"name":1},{"name":"a","width":"wide"},7,null]'])(
    'ignores %j',
    (text) => {
      localStorage.setItem(KEY, text);
      expect(new ColumnStorage('t').load()).toEqual([]);
    },
  );

  test('is empty where storage is not allowed', () => {
    const forbid = (): never => {
      throw new DOMException('no', 'SecurityError');
    };
    vi.spyOn(Storage.prototype, 'getItem').mockImplementation(forbid);
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(forbid);
    vi.spyOn(Storage.prototype, 'removeItem').mockImplementation(forbid);
    const storage = new ColumnStorage('t');
    storage.save([{ name: 'a' }]);
    storage.clear();
    expect(storage.load()).toEqual([]);
  });

  test('converts from and to AG Grid’s states, row numbers first', () => {
    const states = statesOf([
      { name: 'a', width: 90, pinned: 'right' },
      { name: 'b', hidden: true },
    ]);
    expect(states[0]?.colId).toBe('#');
    expect(arrangementsOf(states)).toEqual([
      { name: 'a', width: 90, pinned: 'right' },
      { name: 'b', hidden: true },
    ]);
  });
});

describe('columns that the table does not have now', () => {
  const wide = { name: 'b', width: 300, pinned: 'left' as const };

  test('keep their place', () => {
    expect(
      mergeArrangements([{ name: 'a' }, wide, { name: 'c' }], [{ name: 'c' }, { name: 'a' }]),
    ).toEqual([{ name: 'c' }, { name: 'a' }, wide]);
    expect(mergeArrangements([wide], [{ name: 'a' }])).toEqual([wide, { name: 'a' }]);
    expect(mergeArrangements([{ name: 'a', hidden: true }], [{ name: 'a' }])).toEqual([
      { name: 'a' },
    ]);
  });

  test('return to their place, and new columns are beside their neighbours', () => {
    const arranged = [{ name: 'c' }, wide, { name: 'gone' }];
    expect(orderColumns(['a', 'b', 'new', 'c', 'd'], arranged)).toEqual([
      'a',
      { name: 'c' },
      'd',
      wide,
      'new',
    ]);
    expect(orderColumns(['a', 'b'], [])).toEqual(['a', 'b']);
  });
});
