/** Messages that wait to be sent to the gateway, and the rate at which they may be sent. No I/O. */

import type { ClientMessage, Close, Heart, Move, Open } from './messages.js';

// Below a gateway's default limit (50 a second, bursts of 100); exceeding it ends the connection.
const RATE = 40;
const BURST = 80;
// While the user scrolls, a place is visible for less time than this.
const MOVE_INTERVAL_MS = 50;

type Outgoing = Open | Move | Close | Heart;

/** Messages in order, at most one of a kind for each window: only the last move counts. */
export class SendQueue {
  readonly #messages = new Map<string, Outgoing>();
  readonly #movedAt = new Map<number, number>();

  put(message: Outgoing): void {
    if (message.type === 'close' && this.#withdraw(message.sub)) return;
    this.#messages.set(keyOf(message), message);
  }

  /** Whether this window's `open` is not sent yet, so that it can still be replaced. */
  holdsOpen(sub: number): boolean {
    return this.#messages.has(`open ${sub}`);
  }

  /** Removes a window's unsent messages; true when its `open` was among them. */
  #withdraw(sub: number): boolean {
    this.#messages.delete(`move ${sub}`);
    this.#movedAt.delete(sub);
    return this.#messages.delete(`open ${sub}`);
  }

  /** The next message that may be sent now; heartbeats first, because the gateway waits for them. */
  take(now: number): ClientMessage | undefined {
    const heart = this.#messages.get('heart');
    if (heart) return this.#remove(heart, now);
    for (const message of this.#messages.values()) {
      if (this.#waitOf(message, now) <= 0) return this.#remove(message, now);
    }
    return undefined;
  }

  /** Milliseconds until `take` returns a message; undefined when the queue is empty. */
  wait(now: number): number | undefined {
    let least: number | undefined;
    for (const message of this.#messages.values()) {
      least = Math.min(least ?? Infinity, Math.max(0, this.#waitOf(message, now)));
    }
    return least;
  }

  clear(): void {
    this.#messages.clear();
    this.#movedAt.clear();
  }

  #waitOf(message: Outgoing, now: number): number {
    if (message.type !== 'move') return 0;
    return (this.#movedAt.get(message.sub) ?? -Infinity) + MOVE_INTERVAL_MS - now;
  }

  #remove(message: Outgoing, now: number): ClientMessage {
    this.#messages.delete(keyOf(message));
    if (message.type === 'move') this.#movedAt.set(message.sub, now);
    return message;
  }
}

function keyOf(message: Outgoing): string {
  return message.type === 'heart' ? 'heart' : `${message.type} ${message.sub}`;
}

/** A token bucket: RATE messages a second, after a burst of BURST. */
export class RateLimiter {
  #tokens = BURST;
  #updatedAt = 0;

  /** Milliseconds to wait before the next message. */
  wait(now: number): number {
    const earned = (Math.max(0, now - this.#updatedAt) * RATE) / 1000;
    this.#tokens = Math.min(BURST, this.#tokens + earned);
    this.#updatedAt = now;
    return this.#tokens >= 1 ? 0 : Math.ceil(((1 - this.#tokens) * 1000) / RATE);
  }

  /** Counts a message that was sent. */
  count(): void {
    this.#tokens -= 1;
  }
}
