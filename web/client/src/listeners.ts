/** Those who want to be told, each safe from the others' mistakes. */

export type Listener<T> = (news: T) => void;

/** Tells in the order of coming; one who throws is reported and harms nobody else. */
export class Listeners<T> {
  #all: readonly { readonly tell: Listener<T> }[] = [];

  /** Gives back what ends it; the same function may be added twice. */
  add(tell: Listener<T>): () => void {
    const entry = { tell };
    this.#all = [...this.#all, entry];
    return () => {
      this.#all = this.#all.filter((other) => other !== entry);
    };
  }

  /** `current`: whether the news are still news, because a listener may make them old. */
  tell(news: T, current: () => boolean = () => true): void {
    for (const entry of this.#all) {
      if (!current()) return;
      // One that was removed meanwhile wants to hear no more.
      if (this.#all.includes(entry)) safely(() => entry.tell(news));
    }
  }

  clear(): void {
    this.#all = [];
  }
}

/** Calls somebody else's code, whose mistakes are theirs: they show up in the console. */
export function safely(call: () => void): void {
  try {
    call();
  } catch (error) {
    complain(error);
  }
}

/** A mistake in somebody's code, said as an uncaught one would be, but nothing stops for it. */
export function complain(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else console.error(error);
}
