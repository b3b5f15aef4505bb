/** How a window is, as people are told: every state and sentence of a table in one place. */

import type { State } from './messages.js';
import type { ConnectionStatus, TableStatus } from './types.js';

/** A no, with the gateway's code for it. */
export interface Refusal {
  readonly code?: string;
  readonly message: string;
}

/** Not now: asked again later. */
export interface Trouble extends Refusal {
  readonly since: number;
}

/** What is known of a window, whoever said it. Times in milliseconds since 1970. */
export interface Standing {
  readonly table: string;
  /** Whether people see rows, perhaps of an earlier question. */
  readonly shown: boolean;
  /** The gateway's last word that can be believed. */
  readonly said: State | undefined;
  readonly refusal: Refusal | undefined;
  readonly trouble: Trouble | undefined;
  /** When the connection was lost, as long as nothing has come since. */
  readonly lost: number | undefined;
}

export const CLOSED: TableStatus = {
  state: 'closed',
  message: 'This table is not looked at any more.',
};

/** The one status that follows from all that is known. */
export function statusOf(standing: Standing, connection: ConnectionStatus): TableStatus {
  if (connection.phase === 'closed') return CLOSED;
  if (connection.phase === 'refused') return refused(connection);
  if (standing.refusal) return refused(standing.refusal);
  if (connection.phase !== 'open') return apart(standing, connection);
  if (standing.trouble) return troubled(standing.trouble, standing.shown);
  if (standing.said) return saidStatus(standing.table, standing.said);
  if (standing.lost !== undefined && standing.shown) {
    const message = 'The gateway is back. The rows are being brought up to date.';
    return { state: 'reconnecting', message, since: standing.lost };
  }
  if (standing.shown) return { state: 'loading', message: 'The rows are on their way.' };
  return {
    state: 'connecting',
    message: 'The table was asked for. The first rows are on their way.',
  };
}

function refused({ code, message }: Refusal): TableStatus {
  return { state: 'refused', message, ...(code ? { code } : {}) };
}

/** Without a connection: what is shown is old. */
function apart(standing: Standing, connection: ConnectionStatus): TableStatus {
  if (!standing.shown) return { state: 'connecting', message: connection.message };
  const since = standing.lost ?? connection.since;
  return {
    state: 'reconnecting',
    message: 'The connection to the gateway is lost and being made again. These rows are old.',
    ...(since === undefined ? {} : { since }),
  };
}

function troubled({ code = '', message, since }: Trouble, shown: boolean): TableStatus {
  const words = `${message} Asking again.`;
  if (!shown) return { state: 'connecting', message: words, code };
  return { state: 'stale', message: words, code, since };
}

function saidStatus(table: string, said: State): TableStatus {
  const message = said.message || fallback(table, said);
  switch (said.state) {
    case 'loading':
      return { state: 'loading', message, done: said.done ?? 0, total: said.total ?? 0 };
    case 'stale':
      return { state: 'stale', message, ...(said.since ? { since: said.since / 1000 } : {}) };
    case 'waiting':
      return { state: 'waiting', message, ...(said.code ? { code: said.code } : {}) };
    default:
      return { state: said.state, message, ...(said.message ? { warning: true } : {}) };
  }
}

function fallback(table: string, { state }: State): string {
  switch (state) {
    case 'waiting':
      return `There is no table called ${table} now. It will appear here when the pipeline makes it.`;
    case 'loading':
      return 'The gateway is loading the table.';
    case 'live':
      return 'Live: what you see is what there is.';
    case 'stale':
      return 'The gateway does not hear of new changes now. These rows may be old.';
  }
}

export function sameStatus(a: TableStatus, b: TableStatus): boolean {
  return (
    a.state === b.state &&
    a.message === b.message &&
    a.since === b.since &&
    a.done === b.done &&
    a.total === b.total &&
    a.code === b.code
  );
}
