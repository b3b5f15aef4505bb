import { computed, signal, type Signal } from '@angular/core';
import type { Client, Column, Snapshot, TableStatus, TableSubscription } from '@evergrid/client';
import { sameColumns } from '../columns/column-arranger.js';
import { isQueryError } from '../status/status-label.js';
import {
  canRestore,
  droppedMessage,
  droppedParts,
  withDropped,
  withoutDropped,
  type DroppedPart,
} from './dropped-filters.js';
import type { ViewState, ViewStateChange } from './view-state.js';

/** The new columns may arrive this much later than the error that the query does not fit them. */
const COLUMNS_TIMEOUT_MS = 2000;

const ADAPTING: TableStatus = {
  state: 'loading',
  message: 'The table has other columns now. Loading its rows.',
};

export interface TableSource {
  readonly client: Client;
  readonly table: string;
}

export interface AdapterHost {
  readonly state: Signal<ViewState>;
  readonly columns: Signal<readonly Column[]>;
  readonly status: { set(status: TableStatus): void };
  change(change: ViewStateChange): void;
}

/**
 * Adapts the view state to a table whose columns have changed: drops filters and orders that the
 * table cannot apply any more, and offers to restore them when it can again.
 *
 * It learns the columns from a window without a query.
 */
export class ColumnChangeAdapter {
  private readonly dropped = signal<readonly DroppedPart[]>([]);
  /** The newest known columns, perhaps before their rows have arrived. */
  readonly knownColumns = signal<readonly Column[]>([], { equal: sameColumns });
  private readonly restorable = computed(() =>
    this.dropped().filter((part) => canRestore(part, this.knownColumns())),
  );
  /** What was dropped, and why; empty when nothing was. */
  readonly message = computed(() => {
    const restorable = this.restorable();
    const others = this.dropped().filter((part) => !restorable.includes(part));
    return droppedMessage(others, this.knownColumns());
  });
  /** What can be restored, in words; empty when nothing can. */
  readonly offer = computed(() =>
    this.restorable()
      .map(({ description }) => description)
      .join('; '),
  );
  private window: TableSubscription | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pendingError: TableStatus | undefined;

  constructor(private readonly host: AdapterHost) {}

  /**
   * Takes every status of the source. `answered`: the same query had rows before, so an error in
   * it now means that the table has changed, and its new columns will arrive.
   */
  statusChanged(status: TableStatus, answered: boolean, source: TableSource | undefined): void {
    if (!source || !isQueryError(status)) {
      this.cancel();
      this.host.status.set(status);
      return;
    }
    this.pendingError = status;
    if (this.window) return;
    if (answered) this.host.status.set(ADAPTING);
    this.window = source.client.subscribe(source.table, { limit: 1 });
    this.timer = setTimeout(() => this.showError(), COLUMNS_TIMEOUT_MS);
    this.window.onRows((snapshot) => this.pendingError && this.adapt(snapshot, answered));
  }

  /** The query has an answer, or there is another query. */
  cancel(): void {
    clearTimeout(this.timer);
    this.pendingError = undefined;
    const { window } = this;
    this.window = undefined;
    window?.dispose();
  }

  restore(): void {
    const restorable = this.restorable();
    this.dropped.update((dropped) => dropped.filter((part) => !restorable.includes(part)));
    this.host.change(withDropped(this.host.state(), restorable));
  }

  forget(): void {
    this.dropped.set([]);
  }

  private adapt({ columns }: Snapshot, answered: boolean): void {
    const state = this.host.state();
    const parts = droppedParts(state, columns, this.host.columns());
    if (!parts.length) {
      // The columns do not explain the error, or they are still the old ones.
      if (!answered) this.showError();
      return;
    }
    this.cancel();
    this.knownColumns.set(columns);
    const isOther = ({ column }: DroppedPart): boolean =>
      !parts.some((one) => one.column === column);
    this.dropped.update((before) => [...before.filter(isOther), ...parts]);
    this.host.change(withoutDropped(state, parts));
  }

  /** Shows the gateway's error; the columns may still arrive. */
  private showError(): void {
    if (this.pendingError) this.host.status.set(this.pendingError);
  }
}
