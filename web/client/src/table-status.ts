/** The status of a window: all its states and messages in one place. */

import type { State } from './messages.js';
import type { ConnectionStatus, TableStatus } from './types.js';

/** An error that a retry does not solve, with the gateway's code. */
export interface Refusal {
  readonly code?: string;
  readonly message: string;
}

/** An error after which the client retries. */
export interface TemporaryError extends Refusal {
  readonly since: number;
}

/** Everything that determines a window's status. Times in milliseconds since 1970. */
export interface StatusInputs {
  readonly table: string;
  /** Whether rows are on the screen, perhaps those of an earlier query. */
  readonly hasRows: boolean;
  /** The gateway's last `state` message that holds for these rows. */
  readonly reported: State | undefined;
  readonly refusal: Refusal | undefined;
  readonly temporaryError: TemporaryError | undefined;
  /** When the connection was lost; undefined once anything has arrived since. */
  readonly lostAt: number | undefined;
}

export const CLOSED: TableStatus = {
  state: 'closed',
  message: 'The page closed this table.',
};

export function statusOf(inputs: StatusInputs, connection: ConnectionStatus): TableStatus {
  if (connection.phase === 'closed') return CLOSED;
  if (connection.phase === 'refused') return refused(connection);
  if (inputs.refusal) return refused(inputs.refusal);
  if (connection.phase !== 'open') return disconnected(inputs, connection);
  if (inputs.temporaryError) return retrying(inputs.temporaryError, inputs.hasRows);
  if (inputs.reported) return reportedStatus(inputs.table, inputs.reported);
  if (inputs.lostAt !== undefined && inputs.hasRows) {
    const message = 'Reconnected. The rows are being updated.';
    return { state: 'reconnecting', message, since: inputs.lostAt };
  }
  if (inputs.hasRows) return { state: 'loading', message: 'Loading the rows.' };
  return { state: 'connecting', message: 'Loading the first rows of the table.' };
}

function refused({ code, message }: Refusal): TableStatus {
  return { state: 'refused', message, ...(code ? { code } : {}) };
}

function disconnected(inputs: StatusInputs, connection: ConnectionStatus): TableStatus {
  if (!inputs.hasRows) return { state: 'connecting', message: connection.message };
  const since = inputs.lostAt ?? connection.since;
  return {
    state: 'reconnecting',
    message: 'Connection lost. Reconnecting to the gateway; these rows are outdated.',
    ...(since === undefined ? {} : { since }),
  };
}

function retrying({ code = '', message, since }: TemporaryError, hasRows: boolean): TableStatus {
  const text = `${message} Retrying.`;
  if (!hasRows) return { state: 'connecting', message: text, code };
  return { state: 'stale', message: text, code, since };
}

function reportedStatus(table: string, reported: State): TableStatus {
  const message = reported.message || defaultMessage(table, reported);
  switch (reported.state) {
    case 'loading':
      return { state: 'loading', message, done: reported.done ?? 0, total: reported.total ?? 0 };
    case 'stale':
      return {
        state: 'stale',
        message,
        ...(reported.since ? { since: reported.since / 1000 } : {}),
      };
    case 'waiting':
      return { state: 'waiting', message, ...(reported.code ? { code: reported.code } : {}) };
    default:
      return { state: reported.state, message, ...(reported.message ? { warning: true } : {}) };
  }
}

function defaultMessage(table: string, { state }: State): string {
  switch (state) {
    case 'waiting':
      return `There is no table called ${table} now. It appears here when the pipeline creates it.`;
    case 'loading':
      return 'The gateway is loading the table.';
    case 'live':
      return 'Live: the rows are up to date.';
    case 'stale':
      return 'The gateway does not receive changes at the moment. These rows may be outdated.';
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
