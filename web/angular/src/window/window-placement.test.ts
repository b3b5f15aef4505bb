import { describe, expect, test } from 'vitest';
import { COLUMNS } from '../../testing/snapshots.js';
import { covers, isByTime, newestEdge, newestPlace, placeAround } from './window-placement.js';

describe('windows', () => {
  test('have the visible rows in their middle', () => {
    expect(placeAround({ first: 500_000, last: 500_030 })).toEqual({ offset: 499_850, limit: 300 });
    expect(placeAround({ first: 0, last: 30 })).toEqual({ offset: 0, limit: 300 });
  });

  test('stay while they cover the visible rows and the margin', () => {
    const place = { offset: 100, limit: 300 };
    expect(covers(place, { first: 200, last: 240 }, 1_000_000)).toBe(true);
    expect(covers(place, { first: 120, last: 160 }, 1_000_000)).toBe(false);
    expect(covers(place, { first: 330, last: 399 }, 400)).toBe(true);
    expect(covers({ offset: 0, limit: 300 }, { first: 0, last: 40 }, 1_000_000)).toBe(true);
    expect(covers(newestPlace(300), { first: 0, last: 40 }, 1_000_000)).toBe(false);
  });

  test('grow with larger screens', () => {
    const tall = { first: 1000, last: 1399 };
    expect(covers(placeAround(tall), tall, 1_000_000)).toBe(true);
  });
});

describe('the newest rows', () => {
  test('are at the end that the order by time gives', () => {
    expect(newestEdge(undefined, COLUMNS)).toBe('bottom');
    expect(newestEdge([{ column: 'ts' }], COLUMNS)).toBe('bottom');
    expect(newestEdge([{ column: 'ts', descending: true }], COLUMNS)).toBe('top');
  });

  test('are at no end in another order', () => {
    expect(isByTime([{ column: 'name' }], COLUMNS)).toBe(false);
    expect(isByTime([{ column: 'ts' }, { column: 'name' }], COLUMNS)).toBe(true);
  });
});
