/** Waits between retries. */

const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;

/** Exponential backoff with jitter, so that not all pages reconnect at the same moment. */
export class Backoff {
  readonly #random: () => number;
  readonly #firstWait: number;
  #nextWait: number;

  constructor(random: () => number = Math.random, firstWait: number = FIRST_WAIT_MS) {
    this.#random = random;
    this.#firstWait = firstWait;
    this.#nextWait = firstWait;
  }

  /** Milliseconds until the next attempt; each call about doubles the wait. */
  next(): number {
    const wait = this.#nextWait;
    this.#nextWait = Math.min(wait * 2, LONGEST_WAIT_MS);
    return Math.round(wait * (0.5 + this.#random() / 2));
  }

  reset(): void {
    this.#nextWait = this.#firstWait;
  }

  /** Whether a connection lasted long enough for the next wait to be short again. */
  static isStable(durationMs: number): boolean {
    return durationMs > LONGEST_WAIT_MS;
  }
}
