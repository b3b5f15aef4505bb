/** The tests' table, with a column of every type. */

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

/** A column that another generation may have. */
export const CITY = { name: 'city', type: { kind: 'text' } } as const;

type Columns = TableModel['columns'];

/** Its number, the columns that it lacks, those that it adds after `name`, and cells of all rows. */
export type GenerationChange = [
  generation: number,
  without: readonly string[],
  added?: Columns,
  cells?: Entry,
];

/** Replaces the table by another generation, with 300 rows. */
export async function placeGeneration(
  gateway: { call(call: string, ...given: unknown[]): Promise<unknown> },
  ...[generation, without, added = [], cells = {}]: GenerationChange
): Promise<void> {
  const drop = (row: Entry): Entry =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name)));
  const rows = entries(300).map((row) => drop({ ...row, ...cells }));
  await gateway.call('place', ledgerOf(without, added), rows, generation);
}

function ledgerOf(without: readonly string[], added: Columns): TableModel {
  const kept = LEDGER.columns.filter(({ name }) => !without.includes(name));
  const index = kept.findIndex(({ name }) => name === 'name') + 1;
  return { ...LEDGER, columns: [...kept.slice(0, index), ...added, ...kept.slice(index)] };
}
