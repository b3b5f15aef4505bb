/** The table of people that the tests' gateways have. */

import type { TableModel } from './gateway-process.js';

export const PEOPLE: TableModel = {
  name: 'people',
  columns: [
    { name: 'number', type: { kind: 'integer' } },
    { name: 'name', type: { kind: 'text' } },
    { name: 'balance', type: { kind: 'decimal', precision: 18, scale: 2 } },
    { name: 'ts', type: { kind: 'timestamp' }, role: 'time' },
  ],
  row_id: ['number'],
  order: ['ts', 'number'],
};

export function person(number: number, name = `Person ${number}`): Record<string, unknown> {
  return { number, name, balance: `${number}.50`, ts: 1_000_000 + number };
}

export function people(count: number, first = 0): Record<string, unknown>[] {
  return Array.from({ length: count }, (_, index) => person(first + index));
}

/** Ids from `first` up to, but not including, `end`. */
export function numbers(first: number, end: number): string[] {
  return Array.from({ length: end - first }, (_, index) => String(first + index));
}
