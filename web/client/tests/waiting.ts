/** What tests wait for, without a guess at how long it takes. */

import type { Snapshot, TableStatus, TableSubscription } from '../src/index.js';

const LIMIT_MS = 20_000;

/** What `look` gives as soon as it is true of something. */
export async function until<T>(
  look: () => T | Promise<T>,
  isIt: (seen: T) => boolean = Boolean,
  limit = LIMIT_MS,
): Promise<T> {
  const end = Date.now() + limit;
  for (;;) {
    const seen = await look();
    if (isIt(seen)) return seen;
    if (Date.now() > end) throw new Error(`not so in ${limit} ms: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The next status that is so, the present one included. */
export function statusIs(
  table: TableSubscription,
  isIt: (status: TableStatus) => boolean,
): Promise<TableStatus> {
  return until(() => table.status, isIt);
}

/** The status once it has this state. */
export function stateIs(table: TableSubscription, state: string): Promise<TableStatus> {
  return statusIs(table, (status) => status.state === state);
}

/** The snapshot once it is so. */
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
