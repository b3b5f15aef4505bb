import { computed, DestroyRef, effect, inject, Injectable, signal, untracked } from '@angular/core';
import type { ControlChoices } from '@evergrid/client';
import { Catalog } from '../live/catalog';
import { sessionClient } from '../session/client';
import { Session } from '../session/session';

/** New topics come now and then; the pipeline itself looks every half minute. */
const PACE_MS = 10_000;

/** What may be asked for, as long as somebody looks; asked anew when another pipeline runs. */
@Injectable()
export class Choices {
  readonly #client = sessionClient();
  readonly #catalog = inject(Catalog);
  readonly #login = inject(Session).login;
  readonly #choices = signal<ControlChoices | undefined>(undefined);
  readonly #problem = signal('');
  readonly #ended = new AbortController();

  /** Whether the key may ask for anything at all. */
  readonly may = computed(() => this.#login()?.control ?? false);
  /** Undefined while not known. */
  readonly choices = this.#choices.asReadonly();
  /** Why they are not known, or not known to be as they were; empty when they are. */
  readonly problem = this.#problem.asReadonly();

  readonly #occasion = computed(() => {
    const pace = Math.floor(this.#catalog.taken() / PACE_MS);
    return [this.may(), this.#catalog.pipeline()?.current, pace].join();
  });

  constructor() {
    effect(() => {
      this.#occasion();
      if (untracked(this.may)) void this.#ask();
    });
    inject(DestroyRef).onDestroy(() => this.#ended.abort());
  }

  async #ask(): Promise<void> {
    try {
      this.#choices.set(await this.#client.control.choices(this.#ended.signal));
      this.#problem.set('');
    } catch (error) {
      if (this.#ended.signal.aborted) return;
      this.#problem.set(error instanceof Error ? error.message : 'The gateway did not answer.');
    }
  }
}
