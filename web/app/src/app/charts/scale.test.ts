import { expect, it } from 'vitest';
import {
  areaPath,
  linePath,
  nearest,
  rangeOf,
  pointAt,
  splitAtGaps,
  type ChartFrame,
  type Sample,
} from './scale';

const FRAME: ChartFrame = { width: 100, height: 43, from: 0, to: 1000, low: 0, high: 10 };
const samples = (...pairs: [number, number | null][]): Sample[] =>
  pairs.map(([time, value]) => ({ time, value }));

it('puts time from left to right and values from bottom to top, inside the frame', () => {
  expect(pointAt(FRAME, 0, 0)).toEqual({ x: 0, y: 41.5 });
  expect(pointAt(FRAME, 500, 5)).toEqual({ x: 50, y: 21.5 });
  expect(pointAt(FRAME, 1000, 10)).toEqual({ x: 100, y: 1.5 });
});

it('shows rates from zero, and counts in their own range', () => {
  const some = samples([0, 100], [1, 110]);
  expect(rangeOf(some)).toEqual({ low: 0, high: 110 });
  expect(rangeOf(some, true)).toEqual({ low: 100, high: 110 });
});

it('has a range even for equal or missing values', () => {
  expect(rangeOf([])).toEqual({ low: 0, high: 1 });
  expect(rangeOf(samples([0, 0]))).toEqual({ low: 0, high: 1 });
  expect(rangeOf(samples([0, 5], [1, 5]), true)).toEqual({ low: 4, high: 6 });
  expect(rangeOf(samples([0, null]), true)).toEqual({ low: 0, high: 1 });
});

it('interrupts the line at gaps and unknown values', () => {
  const some = samples([0, 1], [100, 2], [900, 3], [950, null], [1000, 4]);
  const parts = splitAtGaps(some, 200);
  expect(parts.map((part) => part.map(({ time }) => time))).toEqual([[0, 100], [900], [1000]]);
});

it('draws a part as a line with its area, and a single sample as a dot', () => {
  const parts = splitAtGaps(samples([0, 0], [500, 5], [1000, 10]), 500);
  expect(linePath(FRAME, parts)).toBe('M0,41.5L50,21.5L100,1.5');
  expect(areaPath(FRAME, parts)).toBe('M0,41.5L50,21.5L100,1.5L100,43L0,43Z');
  const dot = splitAtGaps(samples([500, 5]), 500);
  expect(linePath(FRAME, dot)).toBe('M50,21.5h0.01');
  expect(areaPath(FRAME, dot)).toBe('');
});

it('finds the sample nearest to the pointer', () => {
  const some = samples([0, 1], [100, null], [200, 3]);
  expect(nearest(some, 90)?.time).toBe(0);
  expect(nearest(some, 120)?.time).toBe(200);
  expect(nearest([], 0)).toBeUndefined();
});
