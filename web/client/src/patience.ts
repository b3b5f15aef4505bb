/** How long the client waits for what; all in milliseconds. */

/** For a connection, and for the gateway's first word on it. */
export const CONNECT_MS = 10_000;
/** Without a word from the gateway, which speaks every few seconds, it counts as gone. */
export const SILENCE_MS = 15_000;
export const MISSED_HEARTS = 3;
/** A timer that comes this late slept with its page: what was sent meanwhile is read first. */
export const OVERSLEPT_MS = 1_000;

const FIRST_MS = 200;
const LONGEST_MS = 10_000;

/** Growing waits with chance in them, so that not all pages come back at once. */
export class Waits {
  readonly #random: () => number;
  readonly #first: number;
  #next: number;

  constructor(random: () => number = Math.random, first: number = FIRST_MS) {
    this.#random = random;
    this.#first = first;
    this.#next = first;
  }

  next(): number {
    const wait = this.#next;
    this.#next = Math.min(wait * 2, LONGEST_MS);
    return Math.round(wait * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#next = this.#first;
  }

  /** Whether a connection that lasted so long was a good one, after which waits are short again. */
  static isGood(lasted: number): boolean {
    return lasted > LONGEST_MS;
  }
}
