/** A table with a column of every type, as the tests' gateways have it. */

import type { TableModel } from '../../client/testing/gateway-process.js';

export const LEDGER: TableModel = {
  name: 'ledger',
  columns: [
    { name: 'name', type: { kind: 'text' } },
    { name: 'age', type: { kind: 'integer' } },
    { name: 'balance', type: { kind: 'decimal', precision: 18, scale: 2 } },
    { name: 'score', type: { kind: 'float' } },
    { name: 'member', type: { kind: 'boolean' } },
    { name: 'ts', type: { kind: 'timestamp' }, role: 'time' },
    { name: '_offset', type: { kind: 'integer' }, role: 'trace' },
  ],
  row_id: ['_offset'],
  order: ['ts', '_offset'],
};

export const FIRST_TIME = 1_767_225_600_000_000;

export type Entry = Readonly<Record<string, string | number | boolean | null>>;

export function entry(offset: number, cells: Entry = {}): Entry {
  return {
    name: `Person ${offset}`,
    age: offset % 100,
    balance: `${offset}.50`,
    score: offset / 8,
    member: offset % 2 === 0,
    ts: FIRST_TIME + offset * 1000,
    _offset: offset,
    ...cells,
  };
}

export function entries(count: number, first = 0): Entry[] {
  return Array.from({ length: count }, (_, index) => entry(first + index));
}
