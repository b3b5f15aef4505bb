/** Builds frames, for cases that a real gateway does not produce on demand. */

import { int64, tableFromArrays, tableToIPC, utf8 } from '@uwdata/flechette';
import type { Part } from '../src/frames.js';

export interface FrameHeader {
  readonly sub?: number;
  readonly sequence: number;
  readonly base?: number;
  readonly total?: number;
  readonly offset?: number;
  readonly rows?: number;
  readonly generation?: number;
}

/** The id, then a cell for each column. */
export type Cells = readonly [id: string, ...cells: (string | number)[]];

/** A full window; the first row determines which columns are text or integer. */
export function full(
  header: FrameHeader,
  rows: readonly Cells[],
  names: readonly string[] = ['n'],
): ArrayBuffer {
  const columns = names.map((name, at) => ({
    name,
    type: { kind: isText(rows, at + 1) ? 'text' : 'integer' },
    role: 'data',
  }));
  return frame(
    1,
    { total: rows.length, rows: rows.length, ...header },
    { columns },
    arrow(rows, names),
  );
}

export function difference(
  header: FrameHeader,
  parts: readonly Part[],
  rows: readonly Cells[],
  names: readonly string[] = ['n'],
): ArrayBuffer {
  const stream = arrow(rows, names);
  const schema = 8 + new DataView(stream.buffer, stream.byteOffset).getUint32(4, true);
  return frame(2, header, { parts }, stream.slice(schema));
}

function isText(rows: readonly Cells[], at: number): boolean {
  return typeof rows[0]?.[at] === 'string';
}

function arrow(rows: readonly Cells[], names: readonly string[]): Uint8Array {
  const width = Math.max(names.length + 1, ...rows.map((row) => row.length));
  const spare = Array.from({ length: width }, (_, at) => ['_id', ...names][at] ?? `more${at}`);
  const arrays = spare.map((name, at): [string, (string | number)[]] => [
    name,
    rows.map((row) => row[at]!),
  ]);
  const types = spare.map((name, at): [string, ReturnType<typeof utf8>] => [
    name,
    at === 0 || isText(rows, at) ? utf8() : (int64() as never),
  ]);
  return tableToIPC(tableFromArrays(arrays, { types: Object.fromEntries(types) }), {
    format: 'stream',
  }) as Uint8Array;
}

function frame(kind: number, header: FrameHeader, metadata: object, body: Uint8Array): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(metadata));
  const size = Math.ceil(text.length / 8) * 8;
  const data = new Uint8Array(64 + size + body.length).fill(0x20, 64, 64 + size);
  const view = new DataView(data.buffer);
  view.setUint32(0, header.sub ?? 1, true);
  view.setUint8(4, kind);
  const numbers = [
    header.sequence,
    header.base,
    header.generation,
    header.total,
    header.offset,
    1_000,
  ];
  numbers.forEach((number, at) => view.setBigUint64(8 + 8 * at, BigInt(number ?? 0), true));
  view.setUint32(56, header.rows ?? 0, true);
  view.setUint32(60, size, true);
  data.set(text, 64);
  data.set(body, 64 + size);
  return data.buffer;
}
