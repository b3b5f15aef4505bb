/** Windows from frames of the gateway's own code, compared with the values that it encoded. */

import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { BrokenFrame, parseFrame } from './frames.js';
import { applyFrame, type WindowState } from './window-state.js';
import type { Row, Value } from './index.js';
import { difference, full } from '../testing/frame-builder.js';

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

const PROGRAM = new URL('../testing/random_windows.py', import.meta.url).pathname;
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

/** The expected value of a cell, computed independently of the client. */
function expectedValue(cell: string | boolean | null, kind: string): Value {
  if (cell === null || typeof cell === 'boolean') return cell;
  if (kind === 'float') {
    const pairs = cell.match(/../g)!.map((pair) => Number.parseInt(pair, 16));
    return new DataView(Uint8Array.from(pairs).buffer).getFloat64(0, true);
  }
  if (kind !== 'integer' && kind !== 'timestamp') return cell;
  const big = BigInt(cell);
  return BigInt(Number(big)) === big && Number.isSafeInteger(Number(big)) ? Number(big) : big;
}

function check(state: WindowState, vector: Vector): void {
  const { total, offset, generation, sequence } = vector;
  expect(state).toMatchObject({ total, offset, generation, sequence, time: vector.time / 1000 });
  expect(state.columns.map(({ name, type }) => [name, type.kind])).toEqual(vector.columns);
  expect(state.rows.map((row) => row._id)).toEqual(vector.ids);
  state.rows.forEach((row, at) => {
    expect(Object.keys(row)).toEqual(['_id', ...vector.columns.map(([name]) => name)]);
    vector.columns.forEach(([name, kind], column) => {
      expect(row[name]).toBe(expectedValue(vector.rows[at]![column]!, kind));
    });
  });
}

/** A row is the same object exactly when none of its values has changed. */
function checkIdentity(before: WindowState, after: WindowState): void {
  if (before.metadata !== after.metadata) return;
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
  test.each(seeds)('are decoded exactly (seed %i)', (seed) => {
    let state: WindowState | undefined;
    let differences = 0;
    for (const vector of vectors(seed)) {
      const frame = parseFrame(bytes(vector.frame));
      expect([frame.sub, frame.full]).toEqual([7, vector.full]);
      const before = state;
      state = applyFrame(frame, before);
      check(state, vector);
      if (before) checkIdentity(before, state);
      if (!vector.full) differences++;
    }
    expect(differences).toBeGreaterThan(STEPS / 4);
  });
});

describe('a row', () => {
  test('has its columns and no inherited properties', () => {
    const { rows } = applyFrame(
      parseFrame(full({ sequence: 1 }, [['a', '__proto__', 1]], ['__proto__', 'n'])),
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

describe('unchanged rows', () => {
  const before = applyFrame(
    parseFrame(
      full({ sequence: 1 }, [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ]),
    ),
    undefined,
  );

  test('are the same list when only the total has changed', () => {
    const frame = difference({ sequence: 2, base: 1, total: 99, rows: 3 }, [[0, 3]], []);
    const after = applyFrame(parseFrame(frame), before);
    expect(after.total).toBe(99);
    expect(after.rows).toBe(before.rows);
  });

  test('are the same objects in a full window at another place', () => {
    const after = applyFrame(
      parseFrame(
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
  const before = applyFrame(parseFrame(full({ sequence: 5 }, [['a', 1]])), undefined);
  const cases: [string, ArrayBuffer][] = [
    ['another base', difference({ sequence: 7, base: 6, rows: 1 }, [[0, 1]], [])],
    ['rows beyond the base', difference({ sequence: 6, base: 5, rows: 2 }, [[0, 2]], [])],
    [
      'missing new rows',
      difference(
        { sequence: 6, base: 5, rows: 2 },
        [
          [0, 1],
          [-1, 1],
        ],
        [],
      ),
    ],
    ['unused new rows', difference({ sequence: 6, base: 5, rows: 1 }, [[0, 1]], [['b', 1]])],
    ['another number of rows', difference({ sequence: 6, base: 5, rows: 9 }, [[0, 1]], [])],
    ['a body that is not Arrow', full({ sequence: 6 }, [['a', 1]]).slice(0, 140)],
    ['other columns than in its metadata', full({ sequence: 6 }, [['a', 1, 2]], ['n'])],
  ];
  test.each(cases)('is rejected: %s', (_what, frame) => {
    expect(() => applyFrame(parseFrame(frame), before)).toThrow(BrokenFrame);
    expect(before.rows).toHaveLength(1);
  });

  test('is rejected when it is not a frame at all', () => {
    expect(() => parseFrame(new ArrayBuffer(63))).toThrow(/shorter/);
    expect(() => parseFrame(new ArrayBuffer(64))).toThrow(/kind/);
    const long = full({ sequence: 1 }, []);
    new DataView(long).setUint32(60, 2 ** 31, true);
    expect(() => parseFrame(long)).toThrow(/early/);
  });
});
