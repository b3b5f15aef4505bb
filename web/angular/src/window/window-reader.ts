import type {
  Client,
  Place,
  Query,
  Snapshot,
  TableStatus,
  TableSubscription,
} from '@evergrid/client';

/** The least time between moves: a dragged scrollbar must not request every row on the way. */
const MOVE_INTERVAL_MS = 80;

export interface ReaderEvents {
  /** The newest snapshot, at most once a frame. */
  snapshotRead(snapshot: Snapshot): void;
  statusChanged(status: TableStatus): void;
}

/** Reads one window of a table, which can be moved. */
export class WindowReader {
  /** The place of the window, perhaps not requested yet. */
  place: Place | undefined;
  private subscription: TableSubscription | undefined;
  private newest: Snapshot | undefined;
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private movedAt = 0;
  /** Whether a snapshot has arrived since the query changed. */
  answered = false;

  constructor(private readonly events: ReaderEvents) {}

  open(client: Client, table: string, query: Query, place: Place): void {
    this.close();
    this.place = place;
    this.answered = false;
    const subscription = client.subscribe(table, { ...query, ...place });
    this.subscription = subscription;
    subscription.onStatus((status) => {
      if (this.subscription === subscription) this.events.statusChanged(status);
    });
    subscription.onRows((snapshot) => {
      this.answered = true;
      this.schedule(snapshot);
    });
  }

  /**
   * Sets query and place. If the query is the `same` as before, the present snapshot may already
   * have the rows and is read again; otherwise it is dropped.
   */
  ask(query: Query, place: Place, same: boolean): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.place = place;
    this.newest = undefined;
    this.answered &&= same;
    this.subscription?.change(query, place);
    const snapshot = this.subscription?.snapshot;
    if (this.answered && snapshot && !this.newest) this.schedule(snapshot);
  }

  /** Moves to other rows of the same result: at once, or after the interval since the last move. */
  move(place: Place): void {
    if (samePlace(this.place, place)) return;
    this.place = place;
    if (this.timer !== undefined) return;
    const wait = this.movedAt + MOVE_INTERVAL_MS - performance.now();
    if (wait <= 0) this.sendMove();
    else this.timer = setTimeout(() => this.sendMove(), wait);
  }

  close(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = this.timer = this.newest = undefined;
    const { subscription } = this;
    this.subscription = undefined;
    subscription?.dispose();
  }

  private sendMove(): void {
    this.timer = undefined;
    this.movedAt = performance.now();
    if (this.place) this.subscription?.move(this.place);
  }

  /**
   * Reads only the newest snapshot, in the next frame. A hidden tab has no frames, so nothing is
   * drawn or queued there.
   */
  private schedule(snapshot: Snapshot): void {
    this.newest = snapshot;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      const { newest } = this;
      this.newest = undefined;
      if (newest) this.events.snapshotRead(newest);
    });
  }
}

function samePlace(one: Place | undefined, other: Place): boolean {
  return one?.offset === other.offset && one.limit === other.limit;
}

/** Whether a snapshot shows this place, and not an earlier one. */
export function isAtPlace({ offset, rows, total }: Snapshot, place: Place | undefined): boolean {
  if (!place) return false;
  const start = place.offset >= 0 ? place.offset : Math.max(0, total + place.offset);
  return offset === start && rows.length === Math.max(0, Math.min(place.limit, total - start));
}
