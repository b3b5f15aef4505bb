/**
 * The client's side of the live protocol. No I/O: messages in, messages out.
 *
 * Windows outlive connections. For each connection: `welcome` arrives → the client opens all
 * windows, with `resume` where the same gateway can continue → … → `disconnected`. Times are
 * milliseconds since 1970.
 */

import { asSentence, EvergridError } from './errors.js';
import { BrokenFrame, parseFrame } from './frames.js';
import { decode, encode, MAX_SUB, PROTOCOL, type Failed, type Welcome } from './messages.js';
import { SendQueue } from './send-queue.js';
import { SharedWindow, type WindowSubscriber } from './shared-window.js';
import { keyOf, type TableQuery } from './table-query.js';
import type { ConnectionStatus, Place, Snapshot } from './types.js';

/** What a message means for the connection: it is open, or it ends. */
export type ConnectionEvent = Welcome | EvergridError | undefined;

// Client and gateway disagree about a window's number; a new number solves it.
const NUMBER_CODES: ReadonlySet<string> = new Set(['sub_in_use', 'unknown_sub']);

const utf8 = new TextEncoder();

export class LiveProtocol {
  readonly sendQueue = new SendQueue();
  readonly #windows = new Set<SharedWindow>();
  // Windows that others may join; not while one still has rows of another place.
  readonly #shareable = new Map<string, SharedWindow>();
  readonly #bySub = new Map<number, SharedWindow>();
  readonly #random: () => number;
  #connection: ConnectionStatus;
  #welcome: Welcome | undefined;
  #lastSub = 0;

  constructor(connection: ConnectionStatus, random: () => number = Math.random) {
    this.#connection = connection;
    this.#random = random;
  }

  // Calls of subscriptions

  /**
   * The window for this query and place, shared by all that want the same. `previous` is the
   * window that the subscriber shows now.
   */
  join(
    subscriber: WindowSubscriber,
    query: TableQuery,
    place: Place,
    previous?: SharedWindow,
  ): SharedWindow {
    const known = this.#shareable.get(keyOf(query, place));
    const window = known ?? new SharedWindow(query, place, this.#random, previous);
    window.subscribers.add(subscriber);
    if (known) return window;
    this.#windows.add(window);
    this.#share(window);
    this.#open(window);
    window.updateStatus(this.#connection);
    return window;
  }

  /** Moves a window that has only this subscriber; otherwise the subscriber gets another one. */
  move(subscriber: WindowSubscriber, window: SharedWindow, place: Place): SharedWindow {
    const { sub } = window;
    const isTaken = this.#shareable.has(keyOf(window.query, place));
    if (sub === undefined || isTaken || window.subscribers.size > 1) {
      const other = this.join(subscriber, window.query, place, window);
      if (other !== window) this.leave(subscriber, window);
      return other;
    }
    this.#unshare(window);
    window.move(place);
    if (this.sendQueue.holdsOpen(sub)) {
      this.sendQueue.put(window.openMessage(sub, this.#welcome?.instance ?? ''));
      this.#share(window);
    } else {
      this.sendQueue.put({ type: 'move', sub, ...place });
    }
    return window;
  }

  /** When the last subscriber leaves, the window is closed. */
  leave(subscriber: WindowSubscriber, window: SharedWindow): void {
    if (!window.subscribers.delete(subscriber) || window.subscribers.size) return;
    this.#windows.delete(window);
    this.#unshare(window);
    this.#close(window);
  }

  /** Opens windows again that were refused or wait for a retry. */
  reopenFailed(): void {
    for (const window of this.#windows) if (window.sub === undefined) this.#open(window);
    this.#updateStatuses();
  }

  // Events of the connection

  /** The connection's status is part of the status of every window. */
  setConnectionStatus(connection: ConnectionStatus): void {
    this.#connection = connection;
    this.#updateStatuses();
  }

  /** The connection has ended; its last message arrived at `lastReceived`. */
  disconnected(lastReceived: number): void {
    this.#welcome = undefined;
    this.sendQueue.clear();
    this.#bySub.clear();
    for (const window of this.#windows) window.disconnected(lastReceived);
  }

  /** Handles a JSON message. */
  receiveText(text: string, now: number): ConnectionEvent {
    const message = decode(text);
    switch (message?.type) {
      case 'welcome':
        return this.#start(message);
      case 'heart':
        this.sendQueue.put({ type: 'heart' });
        return undefined;
      case 'state': {
        const window = this.#bySub.get(message.sub);
        window?.applyState(message);
        window?.updateStatus(this.#connection);
        return undefined;
      }
      case 'error':
        return this.#fail(message, now);
      default:
        return undefined;
    }
  }

  /** Handles a frame; throws BrokenFrame when the data is not a frame. */
  receiveBinary(data: ArrayBuffer, now: number): void {
    const frame = parseFrame(data);
    const window = this.#bySub.get(frame.sub);
    if (!window || !this.#welcome) return;
    const wasAtPlace = window.isAtPlace;
    let snapshot: Snapshot;
    try {
      snapshot = window.applyFrame(frame, this.#welcome.instance);
    } catch (error) {
      if (!(error instanceof BrokenFrame)) throw error;
      this.#close(window);
      window.discardBase();
      window.fail('broken_frame', 'Invalid frame: the rows from the gateway are unreadable.', now);
      window.updateStatus(this.#connection);
      return;
    }
    if (window.isAtPlace && !wasAtPlace) this.#share(window);
    // Rows before the status `live`, which is about these rows.
    window.publish(snapshot);
    window.updateStatus(this.#connection);
  }

  /** Opens windows whose retry is due; returns the milliseconds until the next one. */
  reopenDue(now: number): number | undefined {
    let least: number | undefined;
    for (const window of this.#windows) {
      if (window.retryAt === undefined) continue;
      if (window.retryAt <= now) this.#open(window);
      else least = Math.min(least ?? Infinity, window.retryAt - now);
    }
    return least;
  }

  #start(welcome: Welcome): ConnectionEvent {
    if (welcome.protocol !== PROTOCOL) {
      const versions = `the gateway speaks version ${welcome.protocol}, this page ${PROTOCOL}`;
      const message = `Unsupported protocol: ${versions}. Reload the page.`;
      return new EvergridError('unsupported_protocol', message);
    }
    this.#welcome = welcome;
    for (const window of this.#windows) this.#open(window);
    return welcome;
  }

  #open(window: SharedWindow): void {
    if (!this.#welcome) return;
    const message = window.openMessage(this.#nextSub(), this.#welcome.instance);
    const size = utf8.encode(encode(message)).length;
    const limit = this.#welcome.max_message_bytes;
    if (size > limit) {
      const sizes = `the query has ${size} bytes, the gateway accepts ${limit}`;
      window.refuse('too_large', `Query too large: ${sizes}. Use a shorter filter.`);
      return;
    }
    this.#bySub.set(message.sub, window);
    this.sendQueue.put(message);
  }

  /** Two windows that move to one place at the same time stay two: both will likely move on. */
  #share(window: SharedWindow): void {
    const key = keyOf(window.query, window.place);
    if (!this.#shareable.has(key)) this.#shareable.set(key, window);
  }

  #unshare(window: SharedWindow): void {
    const key = keyOf(window.query, window.place);
    if (this.#shareable.get(key) === window) this.#shareable.delete(key);
  }

  /** Numbers are not reused, so that late messages for a closed window reach no other window. */
  #nextSub(): number {
    this.#lastSub = (this.#lastSub % MAX_SUB) + 1;
    return this.#lastSub;
  }

  #close(window: SharedWindow): void {
    if (window.sub === undefined) return;
    this.sendQueue.put({ type: 'close', sub: window.sub });
    this.#releaseSub(window);
  }

  #releaseSub(window: SharedWindow): void {
    if (window.sub !== undefined) this.#bySub.delete(window.sub);
    window.sub = undefined;
  }

  #fail(failed: Failed, now: number): ConnectionEvent {
    const message = asSentence(failed.message);
    if (failed.fatal) return new EvergridError(failed.code, message, failed.retry ?? false);
    const window = failed.sub === undefined ? undefined : this.#bySub.get(failed.sub);
    if (!window) return undefined;
    // After a refused `move` the gateway still has the window open.
    if (failed.code === 'bad_window' && window.answered) this.#close(window);
    this.#releaseSub(window);
    if (failed.retry || NUMBER_CODES.has(failed.code)) window.fail(failed.code, message, now);
    else window.refuse(failed.code, message);
    window.updateStatus(this.#connection);
    return undefined;
  }

  #updateStatuses(): void {
    for (const window of [...this.#windows]) window.updateStatus(this.#connection);
  }
}
