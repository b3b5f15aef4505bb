/** One look at a window of a table, which may be shared with others on the page. */

import type { Desk } from './desk.js';
import { Listeners, safely, type Listener } from './listeners.js';
import type { Pane, Viewer } from './pane.js';
import { placeOf, questionOf } from './question.js';
import { CLOSED, sameStatus } from './sentences.js';
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

/** `wake` is called when there is something to say to the gateway. */
export class Subscription implements TableSubscription, Viewer {
  readonly table: string;
  readonly #desk: Desk;
  readonly #wake: () => void;
  readonly #gone: (subscription: Subscription) => void;
  readonly #rows = new Listeners<Snapshot>();
  readonly #statuses = new Listeners<TableStatus>();
  #pane: Pane | undefined;
  #place: Place;
  #snapshot: Snapshot | undefined;
  #status: TableStatus;

  constructor(
    desk: Desk,
    table: string,
    options: TableOptions,
    wake: () => void,
    gone: (subscription: Subscription) => void,
  ) {
    this.table = table;
    this.#desk = desk;
    this.#wake = wake;
    this.#gone = gone;
    this.#place = placeOf(options);
    this.#pane = desk.join(this, questionOf(table, options), this.#place);
    this.#snapshot = this.#pane.snapshot;
    this.#status = this.#pane.status;
    wake();
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
    const end = this.#pane ? this.#rows.add(listener) : () => undefined;
    const { snapshot } = this;
    if (snapshot) safely(() => listener(snapshot));
    return end;
  }

  onStatus(listener: Listener<TableStatus>): () => void {
    const end = this.#pane ? this.#statuses.add(listener) : () => undefined;
    safely(() => listener(this.#status));
    return end;
  }

  move(place: Partial<Place>): void {
    const pane = this.#pane;
    const next = placeOf(place, this.#place);
    if (!pane || (next.offset === this.#place.offset && next.limit === this.#place.limit)) return;
    this.#look(this.#desk.move(this, pane, next), next);
  }

  change(query: Query, place: Partial<Place> = {}): void {
    const pane = this.#pane;
    const next = placeOf(place, this.#place);
    if (!pane) return;
    const other = this.#desk.join(this, questionOf(this.table, query), next, pane);
    if (other === pane) return;
    this.#desk.leave(this, pane);
    this.#look(other, next);
  }

  dispose(): void {
    const pane = this.#pane;
    if (!pane) return;
    this.#pane = undefined;
    this.#desk.leave(this, pane);
    this.#gone(this);
    this.#wake();
    this.#tell(CLOSED);
    this.#rows.clear();
    this.#statuses.clear();
  }

  /** From its pane: new rows. */
  show(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#rows.tell(snapshot, () => this.#snapshot === snapshot);
  }

  /** From its pane: how things are. */
  tell(status: TableStatus): void {
    if (this.#pane) this.#tell(status);
  }

  #tell(status: TableStatus): void {
    if (sameStatus(status, this.#status)) return;
    this.#status = status;
    this.#statuses.tell(status, () => this.#status === status);
  }

  #look(pane: Pane, place: Place): void {
    const other = pane !== this.#pane;
    this.#pane = pane;
    this.#place = place;
    this.#wake();
    if (!other) return;
    const { snapshot, status } = pane;
    if (snapshot) this.show(snapshot);
    // A listener of the rows may have led us on.
    if (this.#pane === pane) this.#tell(status);
  }
}
