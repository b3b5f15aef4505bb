import { computed, DestroyRef, effect, inject, signal, type Signal } from '@angular/core';
import type { ConnectionStatus, Snapshot, TableOptions, TableStatus } from '@evergrid/client';
import { sessionClient } from '../session/session-client';

export interface WatchedQuery {
  readonly table: string;
  readonly options: TableOptions;
}

export interface WatchedTable {
  readonly snapshot: Snapshot | undefined;
  readonly status: TableStatus | undefined;
}

const NOTHING: WatchedTable = { snapshot: undefined, status: undefined };

/** Subscribes to the table of `query` while the component lives; undefined: to none. */
export function watchTable(query: () => WatchedQuery | undefined): Signal<WatchedTable> {
  const client = sessionClient();
  const watched = signal<WatchedTable>(NOTHING);
  // Compared by value, so that an equal query does not open the window again.
  const distinct = computed(query, {
    equal: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  effect((onCleanup) => {
    const wanted = distinct();
    watched.set(NOTHING);
    if (!wanted) return;
    const window = client.subscribe(wanted.table, wanted.options);
    const update = (change: Partial<WatchedTable>): void =>
      watched.update((before) => ({ ...before, ...change }));
    window.onStatus((status) => update({ status }));
    window.onRows((snapshot) => update({ snapshot }));
    onCleanup(() => window.dispose());
  });
  return watched.asReadonly();
}

/** The status of the page's connection. */
export function watchConnection(): Signal<ConnectionStatus> {
  const client = sessionClient();
  const status = signal(client.status);
  inject(DestroyRef).onDestroy(client.onStatus((next) => status.set(next)));
  return status.asReadonly();
}
