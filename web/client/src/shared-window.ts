/**
 * One window of the gateway, shared by all subscriptions that want the same rows. No I/O.
 *
 * It outlives connections: each connection gives it a new number, so that a late frame for an
 * earlier number is ignored.
 */

import { Backoff } from './backoff.js';
import type { Frame } from './frames.js';
import type { Open, State } from './messages.js';
import { openMessage, type TableQuery } from './table-query.js';
import {
  sameStatus,
  statusOf,
  type Refusal,
  type StatusInputs,
  type TemporaryError,
} from './table-status.js';
import type { ConnectionStatus, Place, Snapshot, TableStatus } from './types.js';
import { applyFrame, type WindowState } from './window-state.js';

/** Receives what happens to a window. */
export interface WindowSubscriber {
  receiveSnapshot(snapshot: Snapshot): void;
  receiveStatus(status: TableStatus): void;
}

const FIRST_RETRY_MS = 500;

export class SharedWindow {
  readonly subscribers = new Set<WindowSubscriber>();
  /** The number on the present connection; undefined when the window is not open there. */
  sub: number | undefined;
  /** For subscriptions that join; undefined while the rows are those of another place. */
  snapshot: Snapshot | undefined;
  status: TableStatus = { state: 'connecting', message: 'Loading the table.' };
  refusal: Refusal | undefined;
  /** When to open it again after a temporary error. */
  retryAt: number | undefined;
  /** Whether the gateway has answered under the present number. */
  answered = false;
  readonly #backoff: Backoff;
  #newest: Snapshot | undefined;
  #state: WindowState | undefined;
  #previous: WindowState | undefined;
  #instance = '';
  #moved = false;
  #reported: State | undefined;
  #deferred: State | undefined;
  #needsFrame = true;
  #hadFrame = false;
  #temporaryError: TemporaryError | undefined;
  #lostAt: number | undefined;

  /** `previous` is the window whose rows stay on the screen until this one has rows. */
  constructor(
    readonly query: TableQuery,
    public place: Place,
    random: () => number,
    previous?: SharedWindow,
  ) {
    this.#backoff = new Backoff(random, FIRST_RETRY_MS);
    if (!previous) return;
    this.#previous = previous.#state ?? previous.#previous;
    this.#lostAt = previous.#lostAt;
  }

  /** Whether the rows, if there are any, are those of `place`. */
  get isAtPlace(): boolean {
    return !this.#moved;
  }

  /** The message that opens the window under this number; it resumes where that is possible. */
  openMessage(sub: number, instance: string): Open {
    this.sub = sub;
    this.answered = false;
    this.retryAt = undefined;
    this.#reported = this.#deferred = undefined;
    const open = openMessage(sub, this.query, this.place);
    const resumes = this.#state && this.#instance === instance && !this.#moved;
    this.#needsFrame = !resumes;
    if (resumes) return { ...open, resume: { instance, sequence: this.#state!.sequence } };
    // The answer is a full window, for which no earlier state is a base.
    this.#previous = this.#state ?? this.#previous;
    this.#state = undefined;
    this.#moved = false;
    return this.#hadFrame ? { ...open, resume: { instance, sequence: 0 } } : open;
  }

  /**
   * Changes the place. The present state stays the base of differences that may still arrive for
   * the old place, but the window cannot be resumed from it.
   */
  move(place: Place): void {
    this.place = place;
    this.snapshot = undefined;
    this.#moved = true;
  }

  /** Applies a frame; throws BrokenFrame and changes nothing when the frame does not fit. */
  applyFrame(frame: Frame, instance: string): Snapshot {
    const state = applyFrame(frame, this.#state, this.#state ?? this.#previous);
    this.answered = this.#hadFrame = true;
    this.#state = state;
    this.#previous = undefined;
    this.#instance = instance;
    if (showsPlace(frame, this.place)) this.#moved = false;
    this.#needsFrame = false;
    this.#clearErrors();
    this.#reported = this.#deferred ??
      this.#reported ?? { type: 'state', sub: frame.sub, state: 'live', message: '' };
    this.#deferred = undefined;
    const { columns, rows, total, offset, generation, time } = state;
    const { table } = this.query;
    this.#newest = { table, columns, rows, total, offset, place: this.place, generation, time };
    this.snapshot = this.isAtPlace ? this.#newest : undefined;
    return this.#newest;
  }

  /**
   * Applies a `state` message. `live` is deferred until the rows that it describes have arrived:
   * rows from before an interruption, or of another gateway, must not be shown as live.
   */
  applyState(reported: State): void {
    this.answered = true;
    if (reported.state === 'waiting' || reported.state === 'loading') this.#needsFrame = true;
    if (reported.state === 'live' && this.#needsFrame) {
      this.#deferred = reported;
      return;
    }
    this.#deferred = undefined;
    this.#reported = reported;
    this.#clearErrors();
  }

  /** The next `open` asks for a full window. */
  discardBase(): void {
    this.#instance = '';
  }

  /** Records a temporary error and schedules the retry, with backoff. */
  fail(code: string, message: string, now: number): void {
    this.sub = undefined;
    this.#temporaryError = { code, message, since: this.#temporaryError?.since ?? now };
    this.retryAt = now + this.#backoff.next();
  }

  refuse(code: string, message: string): void {
    this.sub = undefined;
    this.refusal = { code, message };
  }

  /** The connection has ended; nothing has arrived since `lastReceived`. */
  disconnected(lastReceived: number): void {
    this.sub = undefined;
    this.retryAt = undefined;
    this.#temporaryError = undefined;
    const reported = this.#reported;
    const staleSince =
      reported?.state === 'stale' && reported.since ? reported.since / 1000 : lastReceived;
    this.#lostAt ??= Math.min(staleSince, lastReceived);
    this.#reported = this.#deferred = undefined;
  }

  /** Computes the status and sends it to the subscribers if it has changed. */
  updateStatus(connection: ConnectionStatus): void {
    const status = statusOf(this.#statusInputs(), connection);
    if (sameStatus(status, this.status)) return;
    this.status = status;
    for (const subscriber of [...this.subscribers]) {
      const isCurrent = this.subscribers.has(subscriber) && this.status === status;
      if (isCurrent) subscriber.receiveStatus(status);
    }
  }

  /** Sends a snapshot to the subscribers, unless one of them causes a newer one. */
  publish(snapshot: Snapshot): void {
    for (const subscriber of [...this.subscribers]) {
      const isCurrent = this.subscribers.has(subscriber) && this.#newest === snapshot;
      if (isCurrent) subscriber.receiveSnapshot(snapshot);
    }
  }

  #statusInputs(): StatusInputs {
    return {
      table: this.query.table,
      hasRows: this.#state !== undefined || this.#previous !== undefined,
      reported: this.#reported,
      refusal: this.refusal,
      temporaryError: this.#temporaryError,
      lostAt: this.#lostAt,
    };
  }

  #clearErrors(): void {
    this.refusal = undefined;
    this.#temporaryError = undefined;
    this.#lostAt = undefined;
    this.#backoff.reset();
  }
}

/** Whether a frame shows this place; a frame does not name the place that it answers. */
function showsPlace(frame: Frame, { offset, limit }: Place): boolean {
  const start = offset >= 0 ? offset : Math.max(0, frame.total + offset);
  return frame.offset === start && frame.rows === Math.max(0, Math.min(limit, frame.total - start));
}
