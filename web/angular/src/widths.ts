import type { Column, Row } from '@evergrid/client';
import { formatted, isNumeric } from './format.js';

const LETTER = 7.2;
const PADDING = 22;
/** Beside a header's name: the arrow of its order, and room to take hold of its edge. */
const HEADER_EXTRA = 40;
const NARROWEST = 72;
const WIDEST = 340;
const SAMPLE = 60;

/** A width that fits a column's name and what is in the first rows of it. */
export function fittingWidth(column: Column, rows: readonly Row[]): number {
  const { name, type } = column;
  const longest = rows
    .slice(0, SAMPLE)
    .reduce((most, row) => Math.max(most, formatted(row[name], type).length), 0);
  const header = name.length * LETTER + HEADER_EXTRA;
  const cells = longest * LETTER + PADDING;
  return Math.round(Math.max(NARROWEST, Math.min(WIDEST, Math.max(header, cells))));
}

/** Widths that leave no room unused: what is over goes to columns of text, else to all. */
export function spread(
  columns: readonly Column[],
  widths: ReadonlyMap<string, number>,
  room: number,
): ReadonlyMap<string, number> {
  const used = columns.reduce((sum, { name }) => sum + (widths.get(name) ?? 0), 0);
  const texts = columns.filter(({ type }) => type.kind === 'text');
  const takers = texts.length ? texts : columns.filter(({ type }) => !isNumeric(type));
  const some = takers.length ? takers : columns;
  const extra = Math.floor((room - used) / Math.max(some.length, 1));
  if (extra <= 0) return widths;
  const names = new Set(some.map(({ name }) => name));
  return new Map([...widths].map(([name, width]) => [name, width + (names.has(name) ? extra : 0)]));
}
