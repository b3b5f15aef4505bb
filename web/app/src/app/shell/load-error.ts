import { Component, effect, inject, Injectable, input, signal } from '@angular/core';
import type { ConnectionStatus } from '@evergrid/client';

/** The least time between automatic reloads, against endless ones. */
const RELOAD_INTERVAL_MS = 30_000;
const STORAGE_KEY = 'evergrid.reloaded';

/**
 * Parts of the app are loaded on demand, which fails if the gateway is unreachable, or was updated and
 * has other files now. Only reloading the page helps then.
 */
@Injectable({ providedIn: 'root' })
export class LoadErrors {
  readonly #present = signal(false);
  readonly present = this.#present.asReadonly();

  report(): void {
    this.#present.set(true);
  }
}

@Component({
  selector: 'app-load-error',
  template: `
    @if (loadErrors.present()) {
      <p class="app-notice" role="alert">
        A part of the page could not be loaded: the gateway was unreachable, or has been updated.
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
export class LoadErrorNotice {
  readonly status = input.required<ConnectionStatus>();
  protected readonly loadErrors = inject(LoadErrors);

  constructor() {
    effect(() => {
      const back = this.loadErrors.present() && this.status().phase === 'open';
      if (back && mayReload()) this.reload();
    });
  }

  protected reload(): void {
    location.reload();
  }
}

/** Not too often, and never without storage for the time of the last reload. */
function mayReload(): boolean {
  try {
    const last = Number(sessionStorage.getItem(STORAGE_KEY));
    sessionStorage.setItem(STORAGE_KEY, String(Date.now()));
    return Date.now() - last > RELOAD_INTERVAL_MS;
  } catch {
    return false;
  }
}
