/** What is still to be said to the gateway, and how fast it may be said. No I/O. */

import type { ClientMessage, Close, Heart, Move, Open } from './messages.js';

// Below a gateway's usual bound (50 a second, 100 at once), which ends the connection.
const RATE = 40;
const BURST = 80;
// While somebody scrolls, each place is looked at for less than this anyway.
const MOVE_MS = 50;

type Outgoing = Open | Move | Close | Heart;

/** Messages in order, at most one of a kind for each window: only the last move counts. */
export class Outbox {
  readonly #messages = new Map<string, Outgoing>();
  readonly #moved = new Map<number, number>();

  put(message: Outgoing): void {
    if (message.type === 'close' && this.#withdraw(message.sub)) return;
    this.#messages.set(keyOf(message), message);
  }

  /** Whether the opening of this window is still unsaid, and can be said otherwise. */
  holdsOpen(sub: number): boolean {
    return this.#messages.has(`open ${sub}`);
  }

  /** Drop what is unsaid about a window; true when not even its opening was said. */
  #withdraw(sub: number): boolean {
    this.#messages.delete(`move ${sub}`);
    this.#moved.delete(sub);
    return this.#messages.delete(`open ${sub}`);
  }

  /** The next message that may be said now; hearts first, because a gateway waits for them. */
  take(now: number): ClientMessage | undefined {
    const heart = this.#messages.get('heart');
    if (heart) return this.#taken(heart, now);
    for (const message of this.#messages.values()) {
      if (this.#wait(message, now) <= 0) return this.#taken(message, now);
    }
    return undefined;
  }

  /** Milliseconds until `take` has something; undefined when nothing is to be said. */
  wait(now: number): number | undefined {
    let least: number | undefined;
    for (const message of this.#messages.values()) {
      least = Math.min(least ?? Infinity, Math.max(0, this.#wait(message, now)));
    }
    return least;
  }

  clear(): void {
    this.#messages.clear();
    this.#moved.clear();
  }

  #wait(message: Outgoing, now: number): number {
    if (message.type !== 'move') return 0;
    return (this.#moved.get(message.sub) ?? -Infinity) + MOVE_MS - now;
  }

  #taken(message: Outgoing, now: number): ClientMessage {
    this.#messages.delete(keyOf(message));
    if (message.type === 'move') this.#moved.set(message.sub, now);
    return message;
  }
}

function keyOf(message: Outgoing): string {
  return message.type === 'heart' ? 'heart' : `${message.type} ${message.sub}`;
}

/** So many messages a second, after some at once. */
export class Pace {
  #left = BURST;
  #at = 0;

  /** Milliseconds to wait before the next message. */
  wait(now: number): number {
    this.#left = Math.min(BURST, this.#left + (Math.max(0, now - this.#at) * RATE) / 1000);
    this.#at = now;
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) * 1000) / RATE);
  }

  /** One was sent. */
  count(): void {
    this.#left -= 1;
  }
}
