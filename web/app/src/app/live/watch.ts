import { computed, DestroyRef, effect, inject, signal, type Signal } from '@angular/core';
import type { ConnectionStatus, Snapshot, TableOptions, TableStatus } from '@evergrid/client';
import { sessionClient } from '../session/client';

export interface Question {
  readonly table: string;
  readonly options: TableOptions;
}

export interface Watched {
  readonly snapshot: Snapshot | undefined;
  readonly status: TableStatus | undefined;
}

const NOTHING: Watched = { snapshot: undefined, status: undefined };

/** A window on whatever `question` asks for, as long as somebody looks; undefined asks nothing. */
export function watchTable(question: () => Question | undefined): Signal<Watched> {
  const client = sessionClient();
  const watched = signal<Watched>(NOTHING);
  // The same question in other words would close the window only to open it again.
  const settled = computed(question, {
    equal: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  effect((onCleanup) => {
    const asked = settled();
    watched.set(NOTHING);
    if (!asked) return;
    const window = client.subscribe(asked.table, asked.options);
    const note = (change: Partial<Watched>): void =>
      watched.update((before) => ({ ...before, ...change }));
    window.onStatus((status) => note({ status }));
    window.onRows((snapshot) => note({ snapshot }));
    onCleanup(() => window.dispose());
  });
  return watched.asReadonly();
}

/** How the page's one connection is. */
export function watchConnection(): Signal<ConnectionStatus> {
  const client = sessionClient();
  const status = signal(client.status);
  inject(DestroyRef).onDestroy(client.onStatus((news) => status.set(news)));
  return status.asReadonly();
}
