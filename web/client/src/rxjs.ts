/** Live tables as observables. */

import { map, Observable } from 'rxjs';
import type { Client, Place, Query, Row, Snapshot, TableOptions, TableStatus } from './types.js';

/** A window of a table; every observer receives the present value at once, then each new one. */
export interface TableStream {
  readonly rows$: Observable<readonly Row[]>;
  readonly snapshots$: Observable<Snapshot>;
  readonly status$: Observable<TableStatus>;
  move(place: Partial<Place>): void;
  change(query: Query, place?: Partial<Place>): void;
  /** Closes the window and completes the observables. */
  dispose(): void;
}

/**
 * Subscribes to a table until `dispose()`, with or without observers. The observables never fail:
 * errors are statuses.
 */
export function streamTable(client: Client, name: string, options: TableOptions = {}): TableStream {
  const table = client.subscribe(name, options);
  const status$ = new Observable<TableStatus>((observer) =>
    table.onStatus((status) => {
      observer.next(status);
      if (status.state === 'closed') observer.complete();
    }),
  );
  const snapshots$ = new Observable<Snapshot>((observer) => {
    const endRows = table.onRows((snapshot) => observer.next(snapshot));
    const endStatus = table.onStatus(({ state }) => state === 'closed' && observer.complete());
    return () => {
      endRows();
      endStatus();
    };
  });
  return {
    rows$: snapshots$.pipe(map((snapshot) => snapshot.rows)),
    snapshots$,
    status$,
    move: (place) => table.move(place),
    change: (query, place) => table.change(query, place),
    dispose: () => table.dispose(),
  };
}
