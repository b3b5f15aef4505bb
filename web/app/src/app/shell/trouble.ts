import { Component, effect, inject, Injectable, input, signal } from '@angular/core';
import type { ConnectionStatus } from '@evergrid/client';

/** A page that reloads itself must not do so for ever. */
const CALM_MS = 30_000;
const PLACE = 'evergrid.reloaded';

/**
 * Parts of the app are loaded when they are needed, and that can fail: the gateway is away, or it
 * has been updated and has other files now. Then only the whole page anew helps.
 */
@Injectable({ providedIn: 'root' })
export class Trouble {
  readonly #there = signal(false);
  readonly there = this.#there.asReadonly();

  note(): void {
    this.#there.set(true);
  }
}

@Component({
  selector: 'app-trouble',
  template: `
    @if (trouble.there()) {
      <p class="app-notice" role="alert">
        A part of the page could not be loaded: the gateway was away, or has been updated.
        <button type="button" class="app-button small" (click)="reload()">Reload the page</button>
      </p>
    }
  `,
  styles: `
    p {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 12px;
      margin: 12px;
    }
  `,
})
export class TroubleNotice {
  readonly status = input.required<ConnectionStatus>();
  protected readonly trouble = inject(Trouble);

  constructor() {
    effect(() => {
      const back = this.trouble.there() && this.status().phase === 'open';
      if (back && mayReload()) this.reload();
    });
  }

  protected reload(): void {
    location.reload();
  }
}

/** Once in a while; and never where nobody remembers when it was. */
function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(PLACE));
    sessionStorage.setItem(PLACE, String(Date.now()));
    return Date.now() - last > CALM_MS;
  } catch {
    return false;
  }
}
