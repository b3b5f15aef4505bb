/** The JSON messages of the protocol, in both directions. */

import type { Filter, OrderBy } from './types.js';

export const PROTOCOL = 1;
export const SUBPROTOCOL = 'evergrid.v1';
export const PATH = '/api/live';
export const MAX_SUB = 2 ** 32 - 1;

export interface Hello {
  readonly type: 'hello';
  readonly protocol: number;
  readonly key: string;
}

export interface Open {
  readonly type: 'open';
  readonly sub: number;
  readonly table: string;
  readonly columns?: readonly string[];
  readonly filter?: Filter;
  readonly search?: string;
  readonly order?: readonly OrderBy[];
  readonly offset: number;
  readonly limit: number;
  readonly resume?: { readonly instance: string; readonly sequence: number };
}

export interface Move {
  readonly type: 'move';
  readonly sub: number;
  readonly offset: number;
  readonly limit: number;
}

export interface Close {
  readonly type: 'close';
  readonly sub: number;
}

export interface Heart {
  readonly type: 'heart';
}

export type ClientMessage = Hello | Open | Move | Close | Heart;

export interface Welcome {
  readonly type: 'welcome';
  readonly protocol: number;
  readonly instance: string;
  readonly server: string;
  readonly key: string;
  readonly control: boolean;
  readonly heart_seconds: number;
  readonly max_windows: number;
  readonly max_rows: number;
  readonly max_message_bytes: number;
}

/** `since` in microseconds since 1970. */
export interface State {
  readonly type: 'state';
  readonly sub: number;
  readonly state: 'waiting' | 'loading' | 'live' | 'stale';
  readonly message: string;
  readonly since?: number;
  readonly done?: number;
  readonly total?: number;
  /** The error in the query, for a table that exists and cannot answer it any more. */
  readonly code?: string;
}

export interface Closed {
  readonly type: 'closed';
  readonly sub: number;
}

export interface Failed {
  readonly type: 'error';
  readonly code: string;
  readonly message: string;
  readonly sub?: number;
  readonly retry?: boolean;
  readonly fatal?: boolean;
}

export interface ServerHeart {
  readonly type: 'heart';
}

export type ServerMessage = Welcome | State | Closed | Failed | ServerHeart;

const TYPES: ReadonlySet<unknown> = new Set(['welcome', 'state', 'closed', 'error', 'heart']);
const STATES: ReadonlySet<unknown> = new Set(['waiting', 'loading', 'live', 'stale']);

export function encode(message: ClientMessage): string {
  return toJson(message);
}

/** JSON with bigints as strings, which the gateway reads exactly. */
export function toJson(value: object): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'bigint' ? part.toString() : part,
  );
}

/** A message of the gateway; undefined for one that this client does not know. */
export function decode(text: string): ServerMessage | undefined {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof message !== 'object' || message === null) return undefined;
  const { type, state } = message as { type?: unknown; state?: unknown };
  if (!TYPES.has(type) || (type === 'state' && !STATES.has(state))) return undefined;
  return message as ServerMessage;
}
