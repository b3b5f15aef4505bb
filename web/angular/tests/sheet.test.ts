import { describe, expect, test } from 'vitest';
import type { Column, Row, Snapshot } from '@evergrid/client';
import { Block } from '../src/block.js';
import { copyOf } from '../src/clipboard.js';
import { difference } from '../src/difference.js';
import { followEdge, isByTime } from '../src/newest.js';
import { isThere } from '../src/reader.js';
import { Sheet } from '../src/sheet.js';
import { covers, newest, placeAround } from '../src/window.js';

const COLUMNS: readonly Column[] = [
  { name: 'name', type: { kind: 'text' }, role: 'data' },
  { name: 'age', type: { kind: 'integer' }, role: 'data' },
  { name: 'ts', type: { kind: 'timestamp' }, role: 'time' },
];

function row(number: number, cells: Record<string, Row[string]> = {}): Row {
  return { _id: String(number), name: `P${number}`, age: number, ts: number, ...cells };
}

function snapshot(offset: number, rows: readonly Row[], total = 1000): Snapshot {
  const place = { offset, limit: 300 };
  return { table: 't', columns: COLUMNS, rows, total, offset, place, generation: 1, time: 0 };
}

const rows = [row(10), row(11), row(12)];

describe('lines', () => {
  test('are the rows of the view, of which some are here', () => {
    const sheet = new Sheet(snapshot(10, rows), false);
    expect(sheet.lines).toBe(1000);
    expect([9, 10, 12, 13].map((line) => sheet.rowAt(line)?._id)).toEqual([
      undefined,
      '10',
      '12',
      undefined,
    ]);
  });

  test('are the rows of the page, when there are pages', () => {
    const sheet = new Sheet(snapshot(10, rows), true);
    expect([sheet.lines, sheet.rowAt(0)?._id, sheet.positionOf(2), sheet.lineOf(11)]).toEqual([
      3,
      '10',
      12,
      1,
    ]);
  });

  test('stay where they are while rows pass through them', () => {
    const sheet = new Sheet(snapshot(997, rows), false, 100);
    expect([sheet.lines, sheet.rowAt(897)?._id, sheet.positionOf(897)]).toEqual([900, '10', 997]);
  });
});

describe('what is drawn anew', () => {
  const before = new Sheet(snapshot(10, rows), false);

  test('is a row that is another object, and flashes where its own value is another', () => {
    const after = new Sheet(snapshot(10, [rows[0]!, row(11, { age: 99 }), rows[2]!]), false);
    const { lines, cells, replaced } = difference(before, after, [9, 10, 11, 12]);
    expect([...lines]).toEqual([11]);
    expect(cells).toEqual([{ line: 11, column: 'age' }]);
    expect(replaced.size).toBe(0);
  });

  test('does not flash when rows only moved', () => {
    const after = new Sheet(snapshot(10, [row(9), ...rows]), false);
    const { lines, cells, replaced } = difference(before, after, [10, 11, 12]);
    expect(cells).toEqual([]);
    expect([...replaced]).toEqual([...lines]);
    expect(lines.size).toBe(3);
  });

  test('does not flash what was not there, nor what is not a number twice', () => {
    const old = new Sheet(snapshot(10, [row(10, { age: Number.NaN })]), false);
    const now = new Sheet(snapshot(10, [row(10, { age: Number.NaN })]), false);
    expect(difference(old, now, [10]).cells).toEqual([]);
    expect(difference(Sheet.EMPTY, now, [10]).cells).toEqual([]);
  });
});

describe('windows', () => {
  test('have what is seen in their middle', () => {
    expect(placeAround({ first: 500_000, last: 500_030 })).toEqual({ offset: 499_850, limit: 300 });
    expect(placeAround({ first: 0, last: 30 })).toEqual({ offset: 0, limit: 300 });
  });

  test('stay while they reach far enough', () => {
    const place = { offset: 100, limit: 300 };
    expect(covers(place, { first: 200, last: 240 }, 1_000_000)).toBe(true);
    expect(covers(place, { first: 120, last: 160 }, 1_000_000)).toBe(false);
    expect(covers(place, { first: 330, last: 399 }, 400)).toBe(true);
    expect(covers({ offset: 0, limit: 300 }, { first: 0, last: 40 }, 1_000_000)).toBe(true);
    expect(covers(newest(300), { first: 0, last: 40 }, 1_000_000)).toBe(false);
  });

  test('grow with screens that show more', () => {
    const tall = { first: 1000, last: 1399 };
    expect(covers(placeAround(tall), tall, 1_000_000)).toBe(true);
  });

  test('are there when what came is what was asked for', () => {
    const three = snapshot(997, rows);
    expect(isThere(three, { offset: 997, limit: 300 })).toBe(true);
    expect(isThere(three, { offset: -3, limit: 3 })).toBe(true);
    expect(isThere(three, { offset: 600, limit: 300 })).toBe(false);
    expect(isThere(snapshot(0, [], 0), newest(300))).toBe(true);
  });
});

describe('the newest rows', () => {
  test('are where the order by time has them', () => {
    expect(followEdge(undefined, COLUMNS)).toBe('bottom');
    expect(followEdge([{ column: 'ts' }], COLUMNS)).toBe('bottom');
    expect(followEdge([{ column: 'ts', descending: true }], COLUMNS)).toBe('top');
  });

  test('are nowhere in another order', () => {
    expect(isByTime([{ column: 'name' }], COLUMNS)).toBe(false);
    expect(isByTime([{ column: 'ts' }, { column: 'name' }], COLUMNS)).toBe(true);
  });
});

describe('copied cells', () => {
  const sheet = new Sheet(
    snapshot(
      0,
      [row(0, { name: 'a\t"b"' }), row(1, { name: null, ts: 1_767_225_600_000_001 })],
      10,
    ),
    false,
  );
  const shown = ['#', 'name', 'age', 'ts'];
  const cell = (line: number, column: string) => ({ line, column });

  test('are a block, whichever corner it began at', () => {
    const block = new Block(cell(1, 'age'), cell(0, 'name'), shown, false);
    expect(copyOf(block, sheet, COLUMNS).text).toBe('"a\t""b"""\t0\n\t1');
  });

  test('are exact, whole rows from their numbers', () => {
    const block = new Block(cell(1, '#'), cell(1, '#'), shown, true);
    expect(copyOf(block, sheet, COLUMNS).text).toBe('\t1\t2026-01-01T00:00:00.000001Z');
  });

  test('leave out rows that are not here, and say how many', () => {
    const block = new Block(cell(1, 'age'), cell(5, 'age'), shown, false);
    expect(copyOf(block, sheet, COLUMNS)).toEqual({ text: '1', rows: 1, missing: 4 });
  });
});
