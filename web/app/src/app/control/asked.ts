import { Injectable, signal } from '@angular/core';
import type { ControlMessage, ControlPlace } from '@evergrid/client';
import { sessionClient } from '../session/client';
import type { Wish } from './wish';

/** A message that somebody sent from this page, and where it is on its topic. */
export interface Sent {
  readonly message: ControlMessage;
  readonly place: ControlPlace;
}

/** What was chosen and sent here: kept while one looks at other pages, until one logs out. */
@Injectable()
export class Asked {
  readonly #client = sessionClient();
  readonly #sending = signal(false);
  readonly #sent = signal<Sent | undefined>(undefined);
  readonly #problem = signal('');

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
      this.#sent.set({ message, place: await this.#client.control.ask(message) });
    } catch (error) {
      this.#sent.set(undefined);
      this.#problem.set(error instanceof Error ? error.message : 'The message could not be sent.');
    } finally {
      this.#sending.set(false);
    }
  }
}
