import { effect, inject, Injectable, signal } from '@angular/core';
import { TitleStrategy, type RouterStateSnapshot } from '@angular/router';
import { Title } from '@angular/platform-browser';
import { Session } from '../session/session';

/** The title of the browser's tab; without the page's name before the login. */
@Injectable({ providedIn: 'root' })
export class PageTitle extends TitleStrategy {
  readonly #title = inject(Title);
  readonly #session = inject(Session);
  readonly #page = signal('');

  constructor() {
    super();
    effect(() => {
      const page = this.#session.client() ? this.#page() : 'Log in';
      this.#title.setTitle(page ? `${page} – Evergrid` : 'Evergrid');
    });
  }

  override updateTitle(snapshot: RouterStateSnapshot): void {
    this.#page.set(this.buildTitle(snapshot) ?? '');
  }
}
