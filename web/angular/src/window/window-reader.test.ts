import { expect, test } from 'vitest';
import { row, snapshot } from '../../testing/snapshots.js';
import { newestPlace } from './window-placement.js';
import { isAtPlace } from './window-reader.js';

const rows = [row(10), row(11), row(12)];

test('a snapshot is at the place that was requested', () => {
  const three = snapshot(997, rows);
  expect(isAtPlace(three, { offset: 997, limit: 300 })).toBe(true);
  expect(isAtPlace(three, { offset: -3, limit: 3 })).toBe(true);
  expect(isAtPlace(three, { offset: 600, limit: 300 })).toBe(false);
  expect(isAtPlace(snapshot(0, [], 0), newestPlace(300))).toBe(true);
});
