/** One window as its frames leave it. Values in, values out. */

import { tableFromIPC } from '@uwdata/flechette';
import { BrokenFrame, columnsOf, partsOf, schemaOf, type Frame, type Part } from './frames.js';
import type { Column, Row, Value } from './types.js';
import { reader } from './values.js';

const ID = '_id';

/** The rows of a window from top to bottom, and what the last frame said about them. */
export interface Picture {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly total: number;
  readonly offset: number;
  readonly generation: number;
  readonly sequence: number;
  readonly time: number;
  /** For the next frame: the columns as they were written, and Arrow's message about them. */
  readonly words: string;
  readonly schema: Uint8Array;
}

/**
 * The picture after `frame`; BrokenFrame when the frame does not fit, and nothing has changed then.
 *
 * `base` is what a difference may start from. `seen` is what people saw last, perhaps in another
 * window: rows that are still the same stay the same objects, so that nothing seems to change
 * that did not.
 */
export function painted(frame: Frame, base: Picture | undefined, seen = base): Picture {
  try {
    return frame.full ? full(frame, seen) : difference(frame, base);
  } catch (error) {
    if (error instanceof BrokenFrame) throw error;
    throw new BrokenFrame(`a frame cannot be read (${String(error)})`);
  }
}

function full(frame: Frame, seen: Picture | undefined): Picture {
  const alike = seen?.words === frame.words ? seen : undefined;
  const columns = alike?.columns ?? columnsOf(frame);
  const names = [ID, ...columns.map((column) => column.name)];
  const read = rowsOf([frame.body], names);
  const rows = alike ? kept(read, alike.rows, names) : read;
  return picture(frame, rows, columns, frame.words, schemaOf(frame.body));
}

function difference(frame: Frame, base: Picture | undefined): Picture {
  if (base?.sequence !== frame.base) {
    throw new BrokenFrame(`a difference starts from state ${frame.base}, not ${base?.sequence}`);
  }
  const names = [ID, ...base.columns.map((column) => column.name)];
  const read = frame.body.byteLength ? rowsOf([base.schema, frame.body], names) : [];
  const rows = joined(base.rows, kept(read, base.rows, names), partsOf(frame));
  return picture(frame, rows, base.columns, base.words, base.schema);
}

function picture(
  frame: Frame,
  rows: readonly Row[],
  columns: readonly Column[],
  words: string,
  schema: Uint8Array,
): Picture {
  if (rows.length !== frame.rows) {
    throw new BrokenFrame(`a frame says ${frame.rows} rows and has ${rows.length}`);
  }
  const { total, offset, generation, sequence, time } = frame;
  return { columns, rows, total, offset, generation, sequence, time, words, schema };
}

/**
 * Rows have no prototype to speak of: a column called `constructor` that is not there is not
 * there, and one called `__proto__` is a column like any other.
 */
class TableRow {
  [name: string]: Value;
}
Object.setPrototypeOf(TableRow.prototype, null);
delete (TableRow.prototype as { constructor?: unknown }).constructor;

function rowsOf(messages: Uint8Array[], names: readonly string[]): readonly Row[] {
  const table = tableFromIPC(messages);
  if (table.numCols !== names.length || table.names[0] !== ID) {
    throw new BrokenFrame(`${names.length} columns were announced, ${table.numCols} came`);
  }
  const rows: Row[] = [];
  table.children[0]!.data.forEach((batch, part) => {
    const readers = table.children.map((column) => reader(column.data[part]!));
    for (let index = 0; index < batch.length; index++) {
      const row = new TableRow();
      for (let at = 0; at < names.length; at++) row[names[at]!] = readers[at]!(index);
      rows.push(row as Row);
    }
  });
  return rows;
}

/** The rows, each that was there before and has the same values as the object that it was. */
function kept(
  rows: readonly Row[],
  before: readonly Row[],
  names: readonly string[],
): readonly Row[] {
  if (!rows.length || !before.length) return rows;
  const known = new Map<string, Row>();
  for (const row of before) known.set(row._id, row);
  const result = rows.map((row) => {
    const old = known.get(row._id);
    return old && names.every((name) => Object.is(old[name], row[name])) ? old : row;
  });
  return equal(result, before) ? before : result;
}

function equal(rows: readonly Row[], before: readonly Row[]): boolean {
  return rows.length === before.length && rows.every((row, index) => row === before[index]);
}

function joined(
  before: readonly Row[],
  fresh: readonly Row[],
  parts: readonly Part[],
): readonly Row[] {
  const rows: Row[] = [];
  let used = 0;
  for (const [start, count] of parts) {
    const source = start < 0 ? fresh : before;
    const first = start < 0 ? used : start;
    if (!(count >= 0) || first + count > source.length) {
      throw new BrokenFrame(`a difference takes ${count} rows from ${first} of ${source.length}`);
    }
    for (let index = first; index < first + count; index++) rows.push(source[index]!);
    if (start < 0) used += count;
  }
  if (used !== fresh.length) {
    throw new BrokenFrame(`a difference brings ${fresh.length} rows and uses ${used}`);
  }
  return equal(rows, before) ? before : rows;
}
