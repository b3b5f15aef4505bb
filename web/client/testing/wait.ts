/** Waiting for conditions, without fixed delays. */

import type { Snapshot, TableStatus, TableSubscription } from '../src/index.js';

const LIMIT_MS = 20_000;

/** Polls `read` until its result satisfies `isIt`, and returns the result. */
export async function until<T>(
  read: () => T | Promise<T>,
  isIt: (seen: T) => boolean = Boolean,
  limit = LIMIT_MS,
): Promise<T> {
  const end = Date.now() + limit;
  for (;;) {
    const seen = await read();
    if (isIt(seen)) return seen;
    if (Date.now() > end) throw new Error(`timed out after ${limit} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The first status, from the present one on, that satisfies `isIt`. */
export function statusIs(
  table: TableSubscription,
  isIt: (status: TableStatus) => boolean,
): Promise<TableStatus> {
  return until(() => table.status, isIt);
}

/** The first status with this state. */
export function stateIs(table: TableSubscription, state: string): Promise<TableStatus> {
  return statusIs(table, (status) => status.state === state);
}

/** The first snapshot that satisfies `isIt`. */
export async function rowsAre(
  table: TableSubscription,
  isIt: (snapshot: Snapshot) => boolean,
): Promise<Snapshot> {
  const seen = await until(
    () => table.snapshot,
    (snapshot) => snapshot !== undefined && isIt(snapshot),
  );
  return seen!;
}

export function ids(snapshot: Snapshot | TableSubscription | undefined): readonly string[] {
  return (snapshot?.rows ?? []).map((row) => row._id);
}
