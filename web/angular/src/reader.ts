import type {
  Client,
  Place,
  Query,
  Snapshot,
  TableStatus,
  TableSubscription,
} from '@evergrid/client';

/** Moves are this far apart at least: a dragged scrollbar must not ask for every row it passes. */
const MOVE_MS = 80;

export interface ReaderEvents {
  /** The newest snapshot, at most once a frame. */
  read(snapshot: Snapshot): void;
  told(status: TableStatus): void;
}

/** Reads one window of one table, wherever it is moved to. */
export class WindowReader {
  /** Where the window is, or is about to be. */
  place: Place | undefined;
  private subscription: TableSubscription | undefined;
  private newest: Snapshot | undefined;
  private frame: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private movedAt = 0;
  /** Whether a snapshot has come since the last new question. */
  answered = false;

  constructor(private readonly events: ReaderEvents) {}

  open(client: Client, table: string, query: Query, place: Place): void {
    this.close();
    this.place = place;
    this.answered = false;
    const subscription = client.subscribe(table, { ...query, ...place });
    this.subscription = subscription;
    subscription.onStatus((status) => {
      if (this.subscription === subscription) this.events.told(status);
    });
    subscription.onRows((snapshot) => {
      this.answered = true;
      this.schedule(snapshot);
    });
  }

  /**
   * Asks a question. If it is the `same` as before, what is here may be the answer already, and is
   * read again; else it is the answer to another one, and no longer wanted.
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

  /** Goes to other rows of the same result: at once, or soon if it has just moved. */
  move(place: Place): void {
    if (samePlace(this.place, place)) return;
    this.place = place;
    if (this.timer !== undefined) return;
    const wait = this.movedAt + MOVE_MS - performance.now();
    if (wait <= 0) this.go();
    else this.timer = setTimeout(() => this.go(), wait);
  }

  close(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame);
    clearTimeout(this.timer);
    this.frame = this.timer = this.newest = undefined;
    const { subscription } = this;
    this.subscription = undefined;
    subscription?.dispose();
  }

  private go(): void {
    this.timer = undefined;
    this.movedAt = performance.now();
    if (this.place) this.subscription?.move(this.place);
  }

  /**
   * Snapshots wait for the next frame, where only the newest one counts. In a hidden tab there
   * are no frames: nothing is drawn, and nothing piles up.
   */
  private schedule(snapshot: Snapshot): void {
    this.newest = snapshot;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      const { newest } = this;
      this.newest = undefined;
      if (newest) this.events.read(newest);
    });
  }
}

function samePlace(one: Place | undefined, other: Place): boolean {
  return one?.offset === other.offset && one.limit === other.limit;
}

/** Whether a snapshot shows the place that was asked for, and not yet an earlier one. */
export function isThere({ offset, rows, total }: Snapshot, place: Place | undefined): boolean {
  if (!place) return false;
  const start = place.offset >= 0 ? place.offset : Math.max(0, total + place.offset);
  return offset === start && rows.length === Math.max(0, Math.min(place.limit, total - start));
}
