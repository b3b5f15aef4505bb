/** The binary messages of the protocol: a header, JSON metadata, Arrow. Bytes in, values out. */

import type { Column } from './types.js';

const HEADER_BYTES = 64;
const FULL = 1;
const DIFFERENCE = 2;
const CONTINUATION = 0xffffffff;

/** Data that violates the protocol. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

export interface Frame {
  readonly sub: number;
  readonly full: boolean;
  readonly sequence: number;
  /** The sequence of the state that a difference starts from. */
  readonly base: number;
  readonly generation: number;
  readonly total: number;
  readonly offset: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly rows: number;
  /** The JSON text, unparsed: equal texts mean equal columns. */
  readonly metadata: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** `[start, count]` for rows of the base, `[-1, count]` for the next new rows. */
export type Part = readonly [start: number, count: number];

const utf8 = new TextDecoder();

/** Parses the header, not metadata and body; throws BrokenFrame when the data is not a frame. */
export function parseFrame(data: ArrayBuffer): Frame {
  if (data.byteLength < HEADER_BYTES)
    throw new BrokenFrame('truncated frame: shorter than its header');
  const view = new DataView(data);
  const kind = view.getUint8(4);
  const size = view.getUint32(60, true);
  if (kind !== FULL && kind !== DIFFERENCE) throw new BrokenFrame(`unknown frame kind ${kind}`);
  if (HEADER_BYTES + size > data.byteLength)
    throw new BrokenFrame('truncated frame: metadata ends too early');
  return {
    sub: view.getUint32(0, true),
    full: kind === FULL,
    sequence: Number(view.getBigUint64(8, true)),
    base: Number(view.getBigUint64(16, true)),
    generation: Number(view.getBigUint64(24, true)),
    total: Number(view.getBigUint64(32, true)),
    offset: Number(view.getBigUint64(40, true)),
    time: Number(view.getBigInt64(48, true)) / 1000,
    rows: view.getUint32(56, true),
    metadata: utf8.decode(new Uint8Array(data, HEADER_BYTES, size)),
    body: new Uint8Array(data, HEADER_BYTES + size),
  };
}

/** The columns of a full window. */
export function columnsOf(frame: Frame): readonly Column[] {
  return (JSON.parse(frame.metadata) as { columns?: Column[] }).columns ?? [];
}

/** The parts of which a difference assembles its window. */
export function partsOf(frame: Frame): readonly Part[] {
  return (JSON.parse(frame.metadata) as { parts?: Part[] }).parts ?? [];
}

/**
 * The schema message at the beginning of a full window's body. A copy, because a view would keep
 * the whole frame in memory for as long as differences arrive.
 */
export function schemaOf(body: Uint8Array<ArrayBuffer>): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.byteLength < 8 || view.getUint32(0, true) !== CONTINUATION) {
    throw new BrokenFrame('invalid body: not an Arrow stream');
  }
  return body.slice(0, 8 + view.getUint32(4, true));
}
