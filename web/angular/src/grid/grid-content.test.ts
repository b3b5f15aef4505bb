import { describe, expect, test } from 'vitest';
import { row, snapshot } from '../../testing/snapshots.js';
import { GridContent } from './grid-content.js';

const rows = [row(10), row(11), row(12)];

describe('lines', () => {
  test('are the rows of the result, of which some are loaded', () => {
    const content = new GridContent(snapshot(10, rows), false);
    expect(content.lines).toBe(1000);
    expect([9, 10, 12, 13].map((line) => content.rowAt(line)?._id)).toEqual([
      undefined,
      '10',
      '12',
      undefined,
    ]);
  });

  test('are the rows of the page, with pages', () => {
    const content = new GridContent(snapshot(10, rows), true);
    expect([
      content.lines,
      content.rowAt(0)?._id,
      content.positionOf(2),
      content.lineOf(11),
    ]).toEqual([3, '10', 12, 1]);
  });

  test('stay in place while rows move through them', () => {
    const content = new GridContent(snapshot(997, rows), false, 100);
    expect([content.lines, content.rowAt(897)?._id, content.positionOf(897)]).toEqual([
      900,
      '10',
      997,
    ]);
  });
});
