import { describe, expect, test } from 'vitest';
import type { Column, Row } from '@evergrid/client';
import { distributeSpace, fittingWidth } from './column-widths.js';

describe('widths', () => {
  const name: Column = { name: 'name', type: { kind: 'text' }, role: 'data' };
  const age: Column = { name: 'age', type: { kind: 'integer' }, role: 'data' };
  const rows = (text: string): Row[] => [{ _id: '0', name: text, age: 1 }];

  test('fit the values, within limits', () => {
    const [short, long, endless] = ['Mei', 'A name of thirty letters or so', 'x'.repeat(1000)].map(
      (text) => fittingWidth(name, rows(text)),
    );
    expect(short).toBeLessThan(long!);
    expect(long).toBeLessThan(endless!);
    expect(endless).toBe(340);
  });

  test('give unused space to text columns', () => {
    const widths = new Map([
      ['name', 100],
      ['age', 80],
    ]);
    expect(distributeSpace([name, age], widths, 400).get('name')).toBe(320);
    expect(distributeSpace([name, age], widths, 100)).toBe(widths);
  });
});
