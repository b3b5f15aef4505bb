/** A subscription of the page to a window, which it may share with other subscriptions. */

import { callSafely, Listeners, type Listener } from './listeners.js';
import type { LiveProtocol } from './live-protocol.js';
import type { SharedWindow, WindowSubscriber } from './shared-window.js';
import { placeOf, tableQueryOf } from './table-query.js';
import { CLOSED, sameStatus } from './table-status.js';
import type {
  Place,
  Query,
  Row,
  Snapshot,
  TableOptions,
  TableStatus,
  TableSubscription,
} from './types.js';

const NO_ROWS: readonly Row[] = [];

/** What a subscription needs of the client. */
export interface SubscriptionHost {
  /** There are messages for the gateway in the send queue. */
  scheduleSend(): void;
  disposed(subscription: Subscription): void;
}

export class Subscription implements TableSubscription, WindowSubscriber {
  readonly table: string;
  readonly #protocol: LiveProtocol;
  readonly #host: SubscriptionHost;
  readonly #rows = new Listeners<Snapshot>();
  readonly #statuses = new Listeners<TableStatus>();
  #window: SharedWindow | undefined;
  #place: Place;
  #snapshot: Snapshot | undefined;
  #status: TableStatus;

  constructor(
    protocol: LiveProtocol,
    table: string,
    options: TableOptions,
    host: SubscriptionHost,
  ) {
    this.table = table;
    this.#protocol = protocol;
    this.#host = host;
    this.#place = placeOf(options);
    this.#window = protocol.join(this, tableQueryOf(table, options), this.#place);
    this.#snapshot = this.#window.snapshot;
    this.#status = this.#window.status;
    host.scheduleSend();
  }

  get rows(): readonly Row[] {
    return this.#snapshot?.rows ?? NO_ROWS;
  }

  get snapshot(): Snapshot | undefined {
    return this.#snapshot;
  }

  get status(): TableStatus {
    return this.#status;
  }

  onRows(listener: Listener<Snapshot>): () => void {
    const end = this.#window ? this.#rows.add(listener) : () => undefined;
    const { snapshot } = this;
    if (snapshot) callSafely(() => listener(snapshot));
    return end;
  }

  onStatus(listener: Listener<TableStatus>): () => void {
    const end = this.#window ? this.#statuses.add(listener) : () => undefined;
    callSafely(() => listener(this.#status));
    return end;
  }

  move(place: Partial<Place>): void {
    const window = this.#window;
    const next = placeOf(place, this.#place);
    if (!window || (next.offset === this.#place.offset && next.limit === this.#place.limit)) return;
    this.#show(this.#protocol.move(this, window, next), next);
  }

  change(query: Query, place: Partial<Place> = {}): void {
    const window = this.#window;
    const next = placeOf(place, this.#place);
    if (!window) return;
    const other = this.#protocol.join(this, tableQueryOf(this.table, query), next, window);
    if (other === window) return;
    this.#protocol.leave(this, window);
    this.#show(other, next);
  }

  dispose(): void {
    const window = this.#window;
    if (!window) return;
    this.#window = undefined;
    this.#protocol.leave(this, window);
    this.#host.disposed(this);
    this.#host.scheduleSend();
    this.#setStatus(CLOSED);
    this.#rows.clear();
    this.#statuses.clear();
  }

  receiveSnapshot(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#rows.notify(snapshot, () => this.#snapshot === snapshot);
  }

  receiveStatus(status: TableStatus): void {
    if (this.#window) this.#setStatus(status);
  }

  #setStatus(status: TableStatus): void {
    if (sameStatus(status, this.#status)) return;
    this.#status = status;
    this.#statuses.notify(status, () => this.#status === status);
  }

  #show(window: SharedWindow, place: Place): void {
    const isOther = window !== this.#window;
    this.#window = window;
    this.#place = place;
    this.#host.scheduleSend();
    if (!isOther) return;
    const { snapshot, status } = window;
    if (snapshot) this.receiveSnapshot(snapshot);
    // A listener of the rows may have moved the subscription on.
    if (this.#window === window) this.#setStatus(status);
  }
}
