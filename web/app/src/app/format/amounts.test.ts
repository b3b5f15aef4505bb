import { expect, it } from 'vitest';
import { age, ago, bytes, count, counted, duration, rate } from './amounts';

it('formats amounts', () => {
  expect(count(1_000_000)).toBe('1,000,000');
  expect(counted(1, 'row')).toBe('1 row');
  expect(counted(1200, 'row')).toBe('1,200 rows');
  expect([0, 0.25, 9.96, 812.5].map(rate)).toEqual(['0', '0.3', '10.0', '813']);
  expect([0, 1023, 1536, 2 ** 31, 150 * 2 ** 20].map(bytes)).toEqual([
    '0 B',
    '1,023 B',
    '1.5 KiB',
    '2 GiB',
    '150 MiB',
  ]);
});

it('formats durations', () => {
  const times = [0.04, 0.9999, 1.24, 48, 119.4, 720, 3 * 3600, 2 * 86_400];
  expect(times.map(duration)).toEqual([
    '40 ms',
    '1.0 s',
    '1.2 s',
    '48 s',
    '119 s',
    '12 min',
    '3 h',
    '2 d',
  ]);
  expect(age(0.2)).toBe('under 1 s');
  expect(age(12)).toBe('12 s');
});

it('shows times ahead of the clock as now', () => {
  expect(ago(1500, 1000)).toBe('just now');
  expect(ago(0, 2900)).toBe('2 s ago');
  expect(ago(0, 12_900)).toBe('12 s ago');
});
