/**
 * One window of the gateway, for all on this page who look at the same. No I/O.
 *
 * It outlives connections: each gives it another number, so a late frame that was meant for an
 * earlier one finds nobody.
 */

import type { Frame } from './frames.js';
import type { Open, State } from './messages.js';
import { Waits } from './patience.js';
import { painted, type Picture } from './picture.js';
import { openOf, type Question } from './question.js';
import { sameStatus, statusOf, type Refusal, type Standing, type Trouble } from './sentences.js';
import type { ConnectionStatus, Place, Snapshot, TableStatus } from './types.js';

/** Who looks at a pane. */
export interface Viewer {
  show(snapshot: Snapshot): void;
  tell(status: TableStatus): void;
}

const FIRST_RETRY_MS = 500;

export class Pane {
  readonly viewers = new Set<Viewer>();
  sub: number | undefined;
  /** For whoever comes to look at its place: none while the rows are of another. */
  snapshot: Snapshot | undefined;
  status: TableStatus = { state: 'connecting', message: 'The table is about to be asked for.' };
  refusal: Refusal | undefined;
  /** When to ask again, after a no that may become a yes. */
  retryAt: number | undefined;
  /** Whether the gateway has opened it under its present number. */
  answered = false;
  readonly #waits: Waits;
  #newest: Snapshot | undefined;
  #picture: Picture | undefined;
  #seen: Picture | undefined;
  #instance = '';
  #moved = false;
  #said: State | undefined;
  #heldBack: State | undefined;
  #needsFrame = true;
  #painted = false;
  #trouble: Trouble | undefined;
  #lost: number | undefined;

  /** `seen` is another pane whose rows people look at until this one has some. */
  constructor(
    readonly question: Question,
    public place: Place,
    random: () => number,
    seen?: Pane,
  ) {
    this.#waits = new Waits(random, FIRST_RETRY_MS);
    if (!seen) return;
    this.#seen = seen.#picture ?? seen.#seen;
    this.#lost = seen.#lost;
  }

  /** Whether the rows, if there are any, are of the place that was asked for. */
  get settled(): boolean {
    return !this.#moved;
  }

  /** The message that opens it under this number, from where an earlier one left off. */
  opening(sub: number, instance: string): Open {
    this.sub = sub;
    this.answered = false;
    this.retryAt = undefined;
    this.#said = this.#heldBack = undefined;
    const open = openOf(sub, this.question, this.place);
    const resume = this.#picture && this.#instance === instance && !this.#moved;
    this.#needsFrame = !resume;
    if (resume) return { ...open, resume: { instance, sequence: this.#picture!.sequence } };
    // What comes is a full window: nothing that was before is a base for it.
    this.#seen = this.#picture ?? this.#seen;
    this.#picture = undefined;
    this.#moved = false;
    return this.#painted ? { ...open, resume: { instance, sequence: 0 } } : open;
  }

  /**
   * From now on another slice. What is there stays the base of differences that may still come
   * for the old one, but cannot be resumed from.
   */
  move(place: Place): void {
    this.place = place;
    this.snapshot = undefined;
    this.#moved = true;
  }

  /** Takes in a frame; BrokenFrame when it does not fit, and then nothing has changed. */
  paint(frame: Frame, instance: string): Snapshot {
    const picture = painted(frame, this.#picture, this.#picture ?? this.#seen);
    this.answered = this.#painted = true;
    this.#picture = picture;
    this.#seen = undefined;
    this.#instance = instance;
    if (isAt(frame, this.place)) this.#moved = false;
    this.#needsFrame = false;
    this.#well();
    this.#said = this.#heldBack ??
      this.#said ?? { type: 'state', sub: frame.sub, state: 'live', message: '' };
    this.#heldBack = undefined;
    const { columns, rows, total, offset, generation, time } = picture;
    const { table } = this.question;
    this.#newest = { table, columns, rows, total, offset, place: this.place, generation, time };
    this.snapshot = this.settled ? this.#newest : undefined;
    return this.#newest;
  }

  /**
   * The gateway said how the window is. `live` is believed when there are rows that it is said of:
   * those from before the table was away, or of another gateway, must not pass for fresh.
   */
  told(said: State): void {
    this.answered = true;
    if (said.state === 'waiting' || said.state === 'loading') this.#needsFrame = true;
    if (said.state === 'live' && this.#needsFrame) {
      this.#heldBack = said;
      return;
    }
    this.#heldBack = undefined;
    this.#said = said;
    this.#well();
  }

  /** What is there is no base for anything: the next window is asked for in full. */
  distrust(): void {
    this.#instance = '';
  }

  /** Not now: when to ask again, which is later each time. */
  fail(code: string, message: string, now: number): void {
    this.sub = undefined;
    this.#trouble = { code, message, since: this.#trouble?.since ?? now };
    this.retryAt = now + this.#waits.next();
  }

  refuse(code: string, message: string): void {
    this.sub = undefined;
    this.refusal = { code, message };
  }

  /** The connection is gone, and nothing was heard since then. */
  lose(since: number): void {
    this.sub = undefined;
    this.retryAt = undefined;
    this.#trouble = undefined;
    const known =
      this.#said?.state === 'stale' && this.#said.since ? this.#said.since / 1000 : since;
    this.#lost ??= Math.min(known, since);
    this.#said = this.#heldBack = undefined;
  }

  /** Finds out how things are and tells, if they are not as they were. */
  refresh(connection: ConnectionStatus): void {
    const status = statusOf(this.#standing(), connection);
    if (sameStatus(status, this.status)) return;
    this.status = status;
    for (const viewer of [...this.viewers]) {
      if (this.viewers.has(viewer) && this.status === status) viewer.tell(status);
    }
  }

  /** Tells a snapshot, unless a viewer makes it old. */
  show(snapshot: Snapshot): void {
    for (const viewer of [...this.viewers]) {
      if (this.viewers.has(viewer) && this.#newest === snapshot) viewer.show(snapshot);
    }
  }

  #standing(): Standing {
    return {
      table: this.question.table,
      shown: this.#picture !== undefined || this.#seen !== undefined,
      said: this.#said,
      refusal: this.refusal,
      trouble: this.#trouble,
      lost: this.#lost,
    };
  }

  #well(): void {
    this.refusal = undefined;
    this.#trouble = undefined;
    this.#lost = undefined;
    this.#waits.reset();
  }
}

/** Whether a frame shows this place: no other word of it says so. */
function isAt(frame: Frame, { offset, limit }: Place): boolean {
  const start = offset >= 0 ? offset : Math.max(0, frame.total + offset);
  return frame.offset === start && frame.rows === Math.max(0, Math.min(limit, frame.total - start));
}
