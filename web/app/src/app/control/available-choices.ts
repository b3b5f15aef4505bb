import { computed, DestroyRef, effect, inject, Injectable, signal, untracked } from '@angular/core';
import type { ControlChoices } from '@evergrid/client';
import { TableCatalog } from '../live/table-catalog';
import { sessionClient } from '../session/session-client';
import { Session } from '../session/session';

/** New topics are rare; the pipeline itself looks for them every 30 seconds. */
const POLL_MS = 10_000;

/** What control messages may ask for; polled, and loaded again when another pipeline runs. */
@Injectable()
export class AvailableChoices {
  readonly #client = sessionClient();
  readonly #catalog = inject(TableCatalog);
  readonly #login = inject(Session).login;
  readonly #choices = signal<ControlChoices | undefined>(undefined);
  readonly #error = signal('');
  readonly #destroyed = new AbortController();

  /** Whether the key has the control right. */
  readonly allowed = computed(() => this.#login()?.control ?? false);
  /** Undefined while unknown. */
  readonly choices = this.#choices.asReadonly();
  /** Why they are unknown or may be outdated; empty if they are up to date. */
  readonly error = this.#error.asReadonly();

  readonly #reloadTrigger = computed(() => {
    const interval = Math.floor(this.#catalog.updatedAt() / POLL_MS);
    return [this.allowed(), this.#catalog.pipeline()?.current, interval].join();
  });

  constructor() {
    effect(() => {
      this.#reloadTrigger();
      if (untracked(this.allowed)) void this.#load();
    });
    inject(DestroyRef).onDestroy(() => this.#destroyed.abort());
  }

  async #load(): Promise<void> {
    try {
      this.#choices.set(await this.#client.control.choices(this.#destroyed.signal));
      this.#error.set('');
    } catch (error) {
      if (this.#destroyed.signal.aborted) return;
      this.#error.set(error instanceof Error ? error.message : 'The gateway did not answer.');
    }
  }
}
