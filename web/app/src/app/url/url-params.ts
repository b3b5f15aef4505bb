import { inject, Injectable, signal } from '@angular/core';
import { NavigationEnd, Router, type Params } from '@angular/router';

/** Query parameters by name; null removes one. */
export type ParamChanges = Readonly<Record<string, string | null>>;

/** Changes are collected for this long, because browsers limit the rate of URL changes. */
const WRITE_DELAY_MS = 300;

/** Marks navigations that only record what the page already shows. */
const OWN_NAVIGATION = Symbol('own navigation');

/**
 * The query parameters of the page's URL, which hold everything that a shared link restores.
 *
 * There are several writers (three tables, an open row), so changes are collected and written
 * together; two navigations at the same time would undo each other.
 */
@Injectable({ providedIn: 'root' })
export class UrlParams {
  readonly #router = inject(Router);
  readonly #params = signal<Params>(this.#read());
  readonly #path = signal(this.#currentPath());
  readonly #external = signal(0);
  #pending: Record<string, string | null> = {};
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Parameters and path of the present page. */
  readonly params = this.#params.asReadonly();
  readonly path = this.#path.asReadonly();
  /** Counts changes that the page did not make itself: a link, the back button, a pasted URL. */
  readonly externalChanges = this.#external.asReadonly();

  constructor() {
    this.#router.events.subscribe((event) => {
      if (!(event instanceof NavigationEnd)) return;
      // Pending changes were for the page before.
      if (this.#currentPath() !== this.#path()) this.#discardPending();
      this.#path.set(this.#currentPath());
      this.#params.set(this.#read());
      if (this.#router.lastSuccessfulNavigation()?.extras.info !== OWN_NAVIGATION) {
        this.#external.update((count) => count + 1);
      }
    });
  }

  /** The present value of a parameter. */
  get(name: string): string | null {
    const value: unknown = this.#read()[name];
    return typeof value === 'string' ? value : null;
  }

  /** Writes after a short delay, without an entry in the browser's history. */
  writeLater(changes: ParamChanges): void {
    Object.assign(this.#pending, changes);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.write({}, true), WRITE_DELAY_MS);
  }

  /** Writes at once, as a new entry in the browser's history unless `replace`. */
  write(changes: ParamChanges, replace = false): void {
    const params = Object.entries({ ...this.#read(), ...this.#pending, ...changes });
    this.#discardPending();
    const url = this.#router.parseUrl(this.#router.url);
    url.queryParams = Object.fromEntries(params.filter(([, text]) => text !== null));
    void this.#router.navigateByUrl(url, { replaceUrl: replace, info: OWN_NAVIGATION });
  }

  #discardPending(): void {
    clearTimeout(this.#timer);
    this.#pending = {};
  }

  #currentPath(): string {
    return this.#router.url.split(/[?#]/)[0]!;
  }

  #read(): Params {
    return this.#router.parseUrl(this.#router.url).queryParams;
  }
}
