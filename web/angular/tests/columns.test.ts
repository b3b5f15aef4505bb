import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Column, Row } from '@evergrid/client';
import { arrangementsOf, ColumnMemory, statesOf } from '../src/memory.js';
import { fittingWidth, spread } from '../src/widths.js';
import { statusWords } from '../src/status-words.js';

const KEY = 'evergrid.columns.t';

describe('the memory of columns', () => {
  afterEach(() => {
    vi.restoreAllMocks();
    localStorage.clear();
  });

  test('gives back what it was given', () => {
    const memory = new ColumnMemory('t');
    const kept = [
      { name: 'a', width: 90, pinned: 'left' as const },
      { name: 'b', hidden: true },
    ];
    memory.keep(kept);
    expect(new ColumnMemory('t').recall()).toEqual(kept);
    expect(new ColumnMemory('other').recall()).toEqual([]);
    memory.forget();
    expect(memory.recall()).toEqual([]);
  });

  test.each(['', '{', '"x"', '[{"name":1},{"name":"a","width":"wide"},7,null]'])(
    'takes %j for nothing',
    (text) => {
      localStorage.setItem(KEY, text);
      expect(new ColumnMemory('t').recall()).toEqual([]);
    },
  );

  test('is empty where storage is forbidden', () => {
    const forbid = (): never => {
      throw new DOMException('no', 'SecurityError');
    };
    vi.spyOn(Storage.prototype, 'getItem').mockImplementation(forbid);
    vi.spyOn(Storage.prototype, 'setItem').mockImplementation(forbid);
    vi.spyOn(Storage.prototype, 'removeItem').mockImplementation(forbid);
    const memory = new ColumnMemory('t');
    memory.keep([{ name: 'a' }]);
    memory.forget();
    expect(memory.recall()).toEqual([]);
  });

  test('speaks with the grid, the numbers always first', () => {
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

describe('widths', () => {
  const name: Column = { name: 'name', type: { kind: 'text' }, role: 'data' };
  const age: Column = { name: 'age', type: { kind: 'integer' }, role: 'data' };
  const rows = (text: string): Row[] => [{ _id: '0', name: text, age: 1 }];

  test('fit what is there, within reason', () => {
    const [short, long, endless] = ['Mei', 'A name of thirty letters or so', 'x'.repeat(1000)].map(
      (text) => fittingWidth(name, rows(text)),
    );
    expect(short).toBeLessThan(long!);
    expect(long).toBeLessThan(endless!);
    expect(endless).toBe(340);
  });

  test('leave no room unused, which goes to texts', () => {
    const widths = new Map([
      ['name', 100],
      ['age', 80],
    ]);
    expect(spread([name, age], widths, 400).get('name')).toBe(320);
    expect(spread([name, age], widths, 100)).toBe(widths);
  });
});

describe('states in a word', () => {
  const now = Date.now();
  test.each([
    [{ state: 'live' }, 'Live'],
    [{ state: 'loading', done: 1, total: 3 }, 'Loading 33%'],
    [{ state: 'waiting' }, 'No such table'],
    [{ state: 'refused', code: 'no_rights' }, 'No rights'],
    [{ state: 'refused', code: 'bad_value' }, 'Not understood'],
    [{ state: 'refused', code: 'bad_key' }, 'Refused'],
  ] as const)('%o', (status, label) => {
    expect(statusWords({ message: '…', ...status }).label).toBe(label);
  });

  test('say since when', () => {
    const label = (since: number) => statusWords({ state: 'stale', message: '…', since }).label;
    expect(label(now)).toMatch(/^Stale since \d\d:\d\d:\d\d$/);
    expect(label(now - 86_400_000 * 2)).toMatch(/^Stale since .+, \d\d:\d\d:\d\d$/);
  });
});
