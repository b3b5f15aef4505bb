import { expect, it } from 'vitest';
import { ageOf, RECORD_MS, recorded, spanOf, type TableRecord } from './record';
import { data, tableOf } from './samples';

const NOW = 1_767_225_600_000;
const table = (name: string, rows: number) => tableOf(name, [data('name')], { rows });

it('keeps the last minutes of each table, and nothing older', () => {
  let record: TableRecord = new Map();
  for (let second = 0; second <= 600; second++) {
    record = recorded(record, [table('people', second)], NOW + second * 1000);
  }
  const readings = record.get('people')!;
  expect(readings).toHaveLength(RECORD_MS / 1000);
  expect(readings[0]!.rows).toBe(301);
  expect(readings.at(-1)!.rows).toBe(600);
});

it('keeps what it knows of a table that is gone, until that is old', () => {
  const before = recorded(new Map(), [table('people', 1)], NOW);
  expect(recorded(before, [], NOW + 1000).get('people')).toHaveLength(1);
  expect(recorded(before, [], NOW + RECORD_MS + 1000).has('people')).toBe(false);
});

it('knows no lag and no age of a table that nothing has come to', () => {
  const empty = tableOf('people', [data('name')], { changes: 0, newest: 0, lag_seconds: 0 });
  const [reading] = recorded(new Map(), [empty], NOW).get('people')!;
  expect(reading).toMatchObject({ lag: null, age: null });
});

it('takes a row that is ahead of our clock as new', () => {
  expect(ageOf({ newest: (NOW + 5000) * 1000 }, NOW)).toBe(0);
  expect(ageOf({ newest: (NOW - 5000) * 1000 }, NOW)).toBe(5);
});

it('shows a minute at first, and more as there is more', () => {
  const since = (ago: number) => recorded(new Map(), [table('people', 1)], NOW - ago);
  expect(spanOf(new Map(), NOW)).toBe(60_000);
  expect(spanOf(since(30_000), NOW)).toBe(60_000);
  expect(spanOf(since(90_000), NOW)).toBe(120_000);
  expect(spanOf(since(200_000), NOW)).toBe(RECORD_MS);
});
