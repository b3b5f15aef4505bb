/** The rows of a window after a frame. Values in, values out. */

import { tableFromIPC } from '@uwdata/flechette';
import { BrokenFrame, columnsOf, partsOf, schemaOf, type Frame, type Part } from './frames.js';
import type { Column, Row, Value } from './types.js';
import { reader } from './values.js';

const ID = '_id';

/** The rows of a window from top to bottom, and the header of the last frame. */
export interface WindowState {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly total: number;
  readonly offset: number;
  readonly generation: number;
  readonly sequence: number;
  readonly time: number;
  /** For the next frame: the JSON that has the columns, and the Arrow schema message. */
  readonly metadata: string;
  readonly schema: Uint8Array;
}

/**
 * The state after `frame`; throws BrokenFrame when the frame does not fit.
 *
 * `base` is the state that a difference may start from. `shown` is the state on the screen, perhaps
 * of another window: rows with equal values stay the same objects, so that comparing by identity
 * finds only real changes.
 */
export function applyFrame(frame: Frame, base: WindowState | undefined, shown = base): WindowState {
  try {
    return frame.full ? fullWindow(frame, shown) : difference(frame, base);
  } catch (error) {
    if (error instanceof BrokenFrame) throw error;
    throw new BrokenFrame(`unreadable frame: ${String(error)}`);
  }
}

function fullWindow(frame: Frame, shown: WindowState | undefined): WindowState {
  const alike = shown?.metadata === frame.metadata ? shown : undefined;
  const columns = alike?.columns ?? columnsOf(frame);
  const names = [ID, ...columns.map((column) => column.name)];
  const read = rowsOf([frame.body], names);
  const rows = alike ? reuseRows(read, alike.rows, names) : read;
  return stateOf(frame, rows, columns, frame.metadata, schemaOf(frame.body));
}

function difference(frame: Frame, base: WindowState | undefined): WindowState {
  if (base?.sequence !== frame.base) {
    throw new BrokenFrame(
      `base mismatch: difference from ${frame.base}, state is ${base?.sequence}`,
    );
  }
  const names = [ID, ...base.columns.map((column) => column.name)];
  const read = frame.body.byteLength ? rowsOf([base.schema, frame.body], names) : [];
  const rows = assemble(base.rows, reuseRows(read, base.rows, names), partsOf(frame));
  return stateOf(frame, rows, base.columns, base.metadata, base.schema);
}

function stateOf(
  frame: Frame,
  rows: readonly Row[],
  columns: readonly Column[],
  metadata: string,
  schema: Uint8Array,
): WindowState {
  if (rows.length !== frame.rows) {
    throw new BrokenFrame(`row count mismatch: header ${frame.rows}, body ${rows.length}`);
  }
  const { total, offset, generation, sequence, time } = frame;
  return { columns, rows, total, offset, generation, sequence, time, metadata, schema };
}

/**
 * Rows inherit nothing: `row['constructor']` is undefined unless the table has such a column, and
 * `__proto__` is an ordinary column.
 */
class TableRow {
  [name: string]: Value;
}
Object.setPrototypeOf(TableRow.prototype, null);
delete (TableRow.prototype as { constructor?: unknown }).constructor;

function rowsOf(messages: Uint8Array[], names: readonly string[]): readonly Row[] {
  const table = tableFromIPC(messages);
  if (table.numCols !== names.length || table.names[0] !== ID) {
    throw new BrokenFrame(
      `column count mismatch: metadata ${names.length}, Arrow ${table.numCols}`,
    );
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

/** The rows, with the earlier object for each row whose values have not changed. */
function reuseRows(
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
  return sameRows(result, before) ? before : result;
}

function sameRows(rows: readonly Row[], before: readonly Row[]): boolean {
  return rows.length === before.length && rows.every((row, index) => row === before[index]);
}

/** Puts a window together from rows of the base and new rows. */
function assemble(
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
      throw new BrokenFrame(
        `difference out of range: ${count} rows from ${first} of ${source.length}`,
      );
    }
    for (let index = first; index < first + count; index++) rows.push(source[index]!);
    if (start < 0) used += count;
  }
  if (used !== fresh.length) {
    throw new BrokenFrame(`unused rows: difference has ${fresh.length}, uses ${used}`);
  }
  return sameRows(rows, before) ? before : rows;
}
