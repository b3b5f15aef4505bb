import { inject, Injectable, signal } from '@angular/core';
import type { ControlMessage, ControlPlace } from '@evergrid/client';
import { Catalog } from '../live/catalog';
import { sessionClient } from '../session/client';
import { stillWished, type Wish } from './wish';
import { afterAll, NEWEST_VERDICT } from './words';

/**
 * A message that somebody sent from this page, and where it is on its topic.
 *
 * Verdicts from before `since` (milliseconds since 1970) are none on it: a row of the same place
 * is that of a control topic which is not there any more.
 */
export interface Sent {
  readonly message: ControlMessage;
  readonly place: ControlPlace;
  readonly since: number;
}

/** What was chosen and sent here: kept while one looks at other pages, until one logs out. */
@Injectable()
export class Asked {
  readonly #client = sessionClient();
  readonly #catalog = inject(Catalog);
  readonly #sending = signal(false);
  readonly #sent = signal<Sent | undefined>(undefined);
  readonly #problem = signal('');
  #fulfilled: Sent | undefined;

  readonly wish = signal<Wish>({});
  readonly sending = this.#sending.asReadonly();
  readonly sent = this.#sent.asReadonly();
  /** Why the last message could not be sent; empty when it could. */
  readonly problem = this.#problem.asReadonly();

  async send(message: ControlMessage): Promise<void> {
    if (this.#sending()) return;
    this.#sending.set(true);
    this.#problem.set('');
    try {
      const since = await this.#afterAllVerdicts();
      this.#sent.set({ message, place: await this.#client.control.ask(message), since });
    } catch (error) {
      this.#sent.set(undefined);
      this.#problem.set(error instanceof Error ? error.message : 'The message could not be sent.');
    } finally {
      this.#sending.set(false);
    }
  }

  /**
   * What was sent has come true, and is no wish any more: kept, it would undo what others ask for
   * later. Once for each message, for the same may be wished for again.
   */
  fulfil(sent: Sent): void {
    if (this.#fulfilled === sent) return;
    this.#fulfilled = sent;
    this.wish.update((wish) => stillWished(wish, sent.message));
  }

  /** A moment later than every verdict that is known now; 0 where they cannot be read. */
  async #afterAllVerdicts(): Promise<number> {
    const table = this.#catalog.control();
    if (!table) return 0;
    try {
      const answer = await this.#client.get(
        `/api/tables/${encodeURIComponent(table)}/rows?${NEWEST_VERDICT}`,
      );
      return afterAll(await answer.json());
    } catch {
      return 0; // sending says what is wrong
    }
  }
}
