import { describe, expect, test } from 'vitest';
import { row, snapshot } from '../../testing/snapshots.js';
import { diffContent } from './content-diff.js';
import { GridContent } from './grid-content.js';

const rows = [row(10), row(11), row(12)];

describe('the difference of two contents', () => {
  const before = new GridContent(snapshot(10, rows), false);

  test('has rows that are other objects, and cells whose value changed', () => {
    const after = new GridContent(snapshot(10, [rows[0]!, row(11, { age: 99 }), rows[2]!]), false);
    const { lines, cells, replaced } = diffContent(before, after, [9, 10, 11, 12]);
    expect([...lines]).toEqual([11]);
    expect(cells).toEqual([{ line: 11, column: 'age' }]);
    expect(replaced.size).toBe(0);
  });

  test('has no cells when rows only moved', () => {
    const after = new GridContent(snapshot(10, [row(9), ...rows]), false);
    const { lines, cells, replaced } = diffContent(before, after, [10, 11, 12]);
    expect(cells).toEqual([]);
    expect([...replaced]).toEqual([...lines]);
    expect(lines.size).toBe(3);
  });

  test('has no cells for new rows or for NaN in both', () => {
    const old = new GridContent(snapshot(10, [row(10, { age: Number.NaN })]), false);
    const now = new GridContent(snapshot(10, [row(10, { age: Number.NaN })]), false);
    expect(diffContent(old, now, [10]).cells).toEqual([]);
    expect(diffContent(GridContent.EMPTY, now, [10]).cells).toEqual([]);
  });
});
