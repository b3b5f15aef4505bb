import { inject, Injectable, signal } from '@angular/core';
import { NavigationEnd, Router, type Params } from '@angular/router';

/** Words of the address, by their names; null takes one out. */
export type Changes = Readonly<Record<string, string | null>>;

/** The address may lag a little behind what is shown: browsers bear few changes a second. */
const PATIENCE_MS = 300;

/** Marks navigations that only write down what is shown already. */
const OURS = Symbol('written by the page itself');

/**
 * The page's address, as everything writes to it that is to be shared with a link.
 *
 * Writers are several at once (three tables, an open row), so what they say is collected and
 * written in one go; two navigations at the same time would undo each other.
 */
@Injectable({ providedIn: 'root' })
export class Address {
  readonly #router = inject(Router);
  readonly #params = signal<Params>(this.#read());
  readonly #path = signal(this.#here());
  readonly #moves = signal(0);
  #waiting: Record<string, string | null> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Of the page that is shown. */
  readonly params = this.#params.asReadonly();
  readonly path = this.#path.asReadonly();
  /** Counts changes that came from elsewhere: a link, the back button, a pasted address. */
  readonly moves = this.#moves.asReadonly();

  constructor() {
    this.#router.events.subscribe((event) => {
      if (!(event instanceof NavigationEnd)) return;
      // What was still to be written was said about a page that is gone.
      if (this.#here() !== this.#path()) this.#forget();
      this.#path.set(this.#here());
      this.#params.set(this.#read());
      if (this.#router.lastSuccessfulNavigation()?.extras.info !== OURS) {
        this.#moves.update((count) => count + 1);
      }
    });
  }

  /** One word as it is in the address now. */
  word(name: string): string | null {
    const value: unknown = this.#read()[name];
    return typeof value === 'string' ? value : null;
  }

  /** Soon, and without a step for the browser's back button. */
  put(changes: Changes): void {
    Object.assign(this.#waiting, changes);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.go({}, true), PATIENCE_MS);
  }

  /** At once; a step that one can go back from, unless it replaces the present one. */
  go(changes: Changes, replace = false): void {
    const words = Object.entries({ ...this.#read(), ...this.#waiting, ...changes });
    this.#forget();
    const place = this.#router.parseUrl(this.#router.url);
    place.queryParams = Object.fromEntries(words.filter(([, text]) => text !== null));
    void this.#router.navigateByUrl(place, { replaceUrl: replace, info: OURS });
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#waiting = {};
  }

  #here(): string {
    return this.#router.url.split(/[?#]/)[0]!;
  }

  #read(): Params {
    return this.#router.parseUrl(this.#router.url).queryParams;
  }
}
