import type { Column, Row } from '@evergrid/client';
import { formatted, isNumeric } from '../format/format.js';

const LETTER = 7.2;
const PADDING = 22;
/** Beside a header's name: the arrow of its order, and space to grab its edge. */
const HEADER_EXTRA = 40;
const NARROWEST = 72;
const WIDEST = 340;
const SAMPLE = 60;

/** A width that fits a column's name and its values in the first rows. */
export function fittingWidth(column: Column, rows: readonly Row[]): number {
  const { name, type } = column;
  const longest = rows
    .slice(0, SAMPLE)
    .reduce((most, row) => Math.max(most, formatted(row[name], type).length), 0);
  const header = name.length * LETTER + HEADER_EXTRA;
  const cells = longest * LETTER + PADDING;
  return Math.round(Math.max(NARROWEST, Math.min(WIDEST, Math.max(header, cells))));
}

/** Distributes unused space to the text columns, or to all if there are none. */
export function distributeSpace(
  columns: readonly Column[],
  widths: ReadonlyMap<string, number>,
  space: number,
): ReadonlyMap<string, number> {
  const used = columns.reduce((sum, { name }) => sum + (widths.get(name) ?? 0), 0);
  const texts = columns.filter(({ type }) => type.kind === 'text');
  const growing = texts.length ? texts : columns.filter(({ type }) => !isNumeric(type));
  const receivers = growing.length ? growing : columns;
  const extra = Math.floor((space - used) / Math.max(receivers.length, 1));
  if (extra <= 0) return widths;
  const names = new Set(receivers.map(({ name }) => name));
  return new Map([...widths].map(([name, width]) => [name, width + (names.has(name) ? extra : 0)]));
}
