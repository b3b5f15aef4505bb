/** Listeners of the page, isolated from each other's errors. */

export type Listener<T> = (value: T) => void;

/** Calls listeners in the order of registration; an error in one does not affect the others. */
export class Listeners<T> {
  #entries: readonly { readonly listener: Listener<T> }[] = [];

  /** Returns the function that removes the listener; the same function may be added twice. */
  add(listener: Listener<T>): () => void {
    const entry = { listener };
    this.#entries = [...this.#entries, entry];
    return () => {
      this.#entries = this.#entries.filter((other) => other !== entry);
    };
  }

  /** `isCurrent` is checked before each call, because a listener may cause a newer value. */
  notify(value: T, isCurrent: () => boolean = () => true): void {
    for (const entry of this.#entries) {
      if (!isCurrent()) return;
      // An earlier listener may have removed this one.
      if (this.#entries.includes(entry)) callSafely(() => entry.listener(value));
    }
  }

  clear(): void {
    this.#entries = [];
  }
}

/** Calls code of the page; its errors go to the console. */
export function callSafely(call: () => void): void {
  try {
    call();
  } catch (error) {
    reportUncaught(error);
  }
}

/** Reports an error like an uncaught one, without interrupting the caller. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else console.error(error);
}
