/** Windows from frames that the gateway's own code made, against what that code meant. */

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { BrokenFrame, frameOf } from '../src/frames.js';
import { painted, type Picture } from '../src/picture.js';
import type { Row, Value } from '../src/index.js';
import { difference, full } from './author.js';

interface Vector {
  readonly frame: string;
  readonly full: boolean;
  readonly sequence: number;
  readonly total: number;
  readonly offset: number;
  readonly generation: number;
  readonly time: number;
  readonly columns: readonly (readonly [name: string, kind: string])[];
  readonly ids: readonly string[];
  readonly rows: readonly (readonly (string | boolean | null)[])[];
}

const PROGRAM = new URL('./vectors.py', import.meta.url).pathname;
const STEPS = 300;

function vectors(seed: number): Vector[] {
  const python = process.env['EVERGRID_PYTHON'] ?? 'python';
  const out = execFileSync(python, [PROGRAM, String(seed), String(STEPS)], {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Vector);
}

function bytes(base64: string): ArrayBuffer {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)).buffer;
}

/** What a cell must be, by another way than the client's. */
function meant(cell: string | boolean | null, kind: string): Value {
  if (cell === null || typeof cell === 'boolean') return cell;
  if (kind === 'float') {
    const pairs = cell.match(/../g)!.map((pair) => Number.parseInt(pair, 16));
    return new DataView(Uint8Array.from(pairs).buffer).getFloat64(0, true);
  }
  if (kind !== 'integer' && kind !== 'timestamp') return cell;
  const big = BigInt(cell);
  return BigInt(Number(big)) === big && Number.isSafeInteger(Number(big)) ? Number(big) : big;
}

function check(picture: Picture, vector: Vector): void {
  const { total, offset, generation, sequence } = vector;
  expect(picture).toMatchObject({ total, offset, generation, sequence, time: vector.time / 1000 });
  expect(picture.columns.map(({ name, type }) => [name, type.kind])).toEqual(vector.columns);
  expect(picture.rows.map((row) => row._id)).toEqual(vector.ids);
  picture.rows.forEach((row, at) => {
    expect(Object.keys(row)).toEqual(['_id', ...vector.columns.map(([name]) => name)]);
    vector.columns.forEach(([name, kind], column) => {
      expect(row[name]).toBe(meant(vector.rows[at]![column]!, kind));
    });
  });
}

/** A row is the object that it was exactly when nothing in it has changed. */
function checkIdentity(before: Picture, after: Picture): void {
  if (before.words !== after.words) return;
  const known = new Map(before.rows.map((row) => [row._id, row]));
  const names = ['_id', ...after.columns.map(({ name }) => name)];
  const alike = (a: Row, b: Row) => names.every((name) => Object.is(a[name], b[name]));
  for (const row of after.rows) {
    const old = known.get(row._id);
    if (old) expect(row === old).toBe(alike(row, old));
  }
}

describe('random windows', () => {
  const seeds = [1, 2, Math.floor(Math.random() * 1e9)];
  test.each(seeds)('are read as they were meant (seed %i)', (seed) => {
    let picture: Picture | undefined;
    let differences = 0;
    for (const vector of vectors(seed)) {
      const frame = frameOf(bytes(vector.frame));
      expect([frame.sub, frame.full]).toEqual([7, vector.full]);
      const before = picture;
      picture = painted(frame, before);
      check(picture, vector);
      if (before) checkIdentity(before, picture);
      if (!vector.full) differences++;
    }
    expect(differences).toBeGreaterThan(STEPS / 4);
  });
});

describe('a row', () => {
  test('has its columns and nothing else, whatever they are called', () => {
    const { rows } = painted(
      frameOf(full({ sequence: 1 }, [['a', '__proto__', 1]], ['__proto__', 'n'])),
      undefined,
    );
    const [row] = rows;
    expect(row!['__proto__']).toBe('__proto__');
    expect(row!['constructor']).toBeUndefined();
    expect('toString' in row!).toBe(false);
    expect(JSON.stringify(row)).toBe('{"_id":"a","__proto__":"__proto__","n":1}');
    expect(({} as Record<string, unknown>)['n']).toBeUndefined();
  });
});

describe('rows that did not change', () => {
  const before = painted(
    frameOf(
      full({ sequence: 1 }, [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ]),
    ),
    undefined,
  );

  test('are the same list when only the total did', () => {
    const frame = difference({ sequence: 2, base: 1, total: 99, rows: 3 }, [[0, 3]], []);
    const after = painted(frameOf(frame), before);
    expect(after.total).toBe(99);
    expect(after.rows).toBe(before.rows);
  });

  test('are the same objects in a full window of another place', () => {
    const after = painted(
      frameOf(
        full({ sequence: 1, offset: 1 }, [
          ['b', 2],
          ['c', 4],
        ]),
      ),
      undefined,
      before,
    );
    expect(after.rows[0]).toBe(before.rows[1]);
    expect(after.rows[1]).toEqual({ _id: 'c', n: 4 });
    expect(after.columns).toBe(before.columns);
  });
});

describe('a frame that does not fit', () => {
  const before = painted(frameOf(full({ sequence: 5 }, [['a', 1]])), undefined);
  const cases: [string, ArrayBuffer][] = [
    ['another base', difference({ sequence: 7, base: 6, rows: 1 }, [[0, 1]], [])],
    ['rows that are not there', difference({ sequence: 6, base: 5, rows: 2 }, [[0, 2]], [])],
    [
      'new rows that did not come',
      difference(
        { sequence: 6, base: 5, rows: 2 },
        [
          [0, 1],
          [-1, 1],
        ],
        [],
      ),
    ],
    [
      'new rows that are not used',
      difference({ sequence: 6, base: 5, rows: 1 }, [[0, 1]], [['b', 1]]),
    ],
    ['another number of rows', difference({ sequence: 6, base: 5, rows: 9 }, [[0, 1]], [])],
    ['a body that is no Arrow', full({ sequence: 6 }, [['a', 1]]).slice(0, 140)],
    ['other columns than it says', full({ sequence: 6 }, [['a', 1, 2]], ['n'])],
  ];
  test.each(cases)('is told from one that does: %s', (_what, frame) => {
    expect(() => painted(frameOf(frame), before)).toThrow(BrokenFrame);
    expect(before.rows).toHaveLength(1);
  });

  test('need not even be a frame', () => {
    expect(() => frameOf(new ArrayBuffer(63))).toThrow(/shorter/);
    expect(() => frameOf(new ArrayBuffer(64))).toThrow(/kind/);
    const long = full({ sequence: 1 }, []);
    new DataView(long).setUint32(60, 2 ** 31, true);
    expect(() => frameOf(long)).toThrow(/early/);
  });
});
