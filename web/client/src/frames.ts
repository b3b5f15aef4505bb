/** The binary messages of the protocol: a header, a few words of JSON, Arrow. Bytes in, values out. */

import type { Column } from './types.js';

const HEADER_BYTES = 64;
const FULL = 1;
const DIFFERENCE = 2;
const CONTINUATION = 0xffffffff;

/** What a gateway sent that it never should have. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame';
}

export interface Frame {
  readonly sub: number;
  readonly full: boolean;
  readonly sequence: number;
  /** Which state a difference starts from. */
  readonly base: number;
  readonly generation: number;
  readonly total: number;
  readonly offset: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly rows: number;
  /** The JSON as it came: equal texts mean equal columns. */
  readonly words: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** `[start, count]` of rows taken over, or `[-1, count]` for the next new ones. */
export type Part = readonly [start: number, count: number];

const utf8 = new TextDecoder();

/** The parts of a frame, its words and body unread: BrokenFrame when it is none. */
export function frameOf(data: ArrayBuffer): Frame {
  if (data.byteLength < HEADER_BYTES) throw new BrokenFrame('a frame is shorter than its header');
  const view = new DataView(data);
  const kind = view.getUint8(4);
  const size = view.getUint32(60, true);
  if (kind !== FULL && kind !== DIFFERENCE) throw new BrokenFrame(`a frame is of kind ${kind}`);
  if (HEADER_BYTES + size > data.byteLength) throw new BrokenFrame('a frame ends too early');
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
    words: utf8.decode(new Uint8Array(data, HEADER_BYTES, size)),
    body: new Uint8Array(data, HEADER_BYTES + size),
  };
}

/** The columns of a full window. */
export function columnsOf(frame: Frame): readonly Column[] {
  return (JSON.parse(frame.words) as { columns?: Column[] }).columns ?? [];
}

/** How a difference puts its window together. */
export function partsOf(frame: Frame): readonly Part[] {
  return (JSON.parse(frame.words) as { parts?: Part[] }).parts ?? [];
}

/**
 * The schema message at the beginning of a full window's body, copied: a view would keep the
 * whole frame in memory for as long as differences come.
 */
export function schemaOf(body: Uint8Array<ArrayBuffer>): Uint8Array {
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.byteLength < 8 || view.getUint32(0, true) !== CONTINUATION) {
    throw new BrokenFrame('a body is no Arrow stream');
  }
  return body.slice(0, 8 + view.getUint32(4, true));
}
