/** Columns, rows and snapshots for tests of the grid. */

import type { Column, Row, Snapshot } from '@evergrid/client';

export const COLUMNS: readonly Column[] = [
  { name: 'name', type: { kind: 'text' }, role: 'data' },
  { name: 'age', type: { kind: 'integer' }, role: 'data' },
  { name: 'ts', type: { kind: 'timestamp' }, role: 'time' },
];

export function row(number: number, cells: Record<string, Row[string]> = {}): Row {
  return { _id: String(number), name: `P${number}`, age: number, ts: number, ...cells };
}

export function snapshot(offset: number, rows: readonly Row[], total = 1000): Snapshot {
  const place = { offset, limit: 300 };
  return { table: 't', columns: COLUMNS, rows, total, offset, place, generation: 1, time: 0 };
}
