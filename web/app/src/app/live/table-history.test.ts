import { expect, it } from 'vitest';
import { ageOf, HISTORY_MS, withReadings, spanOf, type TableHistory } from './table-history';
import { data, tableOf } from './table-samples';

const NOW = 1_767_225_600_000;
const table = (name: string, rows: number) => tableOf(name, [data('name')], { rows });

it('keeps the last minutes of each table, and nothing older', () => {
  let history: TableHistory = new Map();
  for (let second = 0; second <= 600; second++) {
    history = withReadings(history, [table('people', second)], NOW + second * 1000);
  }
  const readings = history.get('people')!;
  expect(readings).toHaveLength(HISTORY_MS / 1000);
  expect(readings[0]!.rows).toBe(301);
  expect(readings.at(-1)!.rows).toBe(600);
});

it('keeps the readings of a table that no longer exists, until they are old', () => {
  const before = withReadings(new Map(), [table('people', 1)], NOW);
  expect(withReadings(before, [], NOW + 1000).get('people')).toHaveLength(1);
  expect(withReadings(before, [], NOW + HISTORY_MS + 1000).has('people')).toBe(false);
});

it('has no lag and no age for a table without changes', () => {
  const empty = tableOf('people', [data('name')], { changes: 0, newest: 0, lag_seconds: 0 });
  const [reading] = withReadings(new Map(), [empty], NOW).get('people')!;
  expect(reading).toMatchObject({ lag: null, age: null });
});

it('has age 0 for a row that is ahead of the clock', () => {
  expect(ageOf({ newest: (NOW + 5000) * 1000 }, NOW)).toBe(0);
  expect(ageOf({ newest: (NOW - 5000) * 1000 }, NOW)).toBe(5);
});

it('spans a minute at first, and more with a longer history', () => {
  const since = (ago: number) => withReadings(new Map(), [table('people', 1)], NOW - ago);
  expect(spanOf(new Map(), NOW)).toBe(60_000);
  expect(spanOf(since(30_000), NOW)).toBe(60_000);
  expect(spanOf(since(90_000), NOW)).toBe(120_000);
  expect(spanOf(since(200_000), NOW)).toBe(HISTORY_MS);
});
