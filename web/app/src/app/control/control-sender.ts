import { inject, Injectable, signal } from '@angular/core';
import type { ControlMessage, ControlPlace } from '@evergrid/client';
import { TableCatalog } from '../live/table-catalog';
import { sessionClient } from '../session/session-client';
import { remainingSelection, type ControlSelection } from './control-selection';
import { afterNewestVerdict, NEWEST_VERDICT } from './judged-message';

/**
 * A message that this page sent, and its position on the control topic.
 *
 * Verdicts from before `since` (milliseconds since 1970) are not about it: a row of the same position
 * then belongs to a control topic that does not exist any more.
 */
export interface SentMessage {
  readonly message: ControlMessage;
  readonly place: ControlPlace;
  readonly since: number;
}

/** Sends control messages; keeps selection and last message until the user logs out. */
@Injectable()
export class ControlSender {
  readonly #client = sessionClient();
  readonly #catalog = inject(TableCatalog);
  readonly #sending = signal(false);
  readonly #sent = signal<SentMessage | undefined>(undefined);
  readonly #error = signal('');
  #applied: SentMessage | undefined;

  readonly selection = signal<ControlSelection>({});
  readonly sending = this.#sending.asReadonly();
  readonly sent = this.#sent.asReadonly();
  /** Why the last message could not be sent; empty if it was. */
  readonly error = this.#error.asReadonly();

  async send(message: ControlMessage): Promise<void> {
    if (this.#sending()) return;
    this.#sending.set(true);
    this.#error.set('');
    try {
      const since = await this.#afterAllVerdicts();
      this.#sent.set({ message, place: await this.#client.control.ask(message), since });
    } catch (error) {
      this.#sent.set(undefined);
      this.#error.set(error instanceof Error ? error.message : 'Sending the message failed.');
    } finally {
      this.#sending.set(false);
    }
  }

  /**
   * Removes what a message has applied from the selection: there it would undo later messages of
   * others. Once for each message, because the user may select the same again.
   */
  clearApplied(sent: SentMessage): void {
    if (this.#applied === sent) return;
    this.#applied = sent;
    this.selection.update((selection) => remainingSelection(selection, sent.message));
  }

  /** A time after all present verdicts; 0 if they cannot be read. */
  async #afterAllVerdicts(): Promise<number> {
    const table = this.#catalog.control();
    if (!table) return 0;
    try {
      const response = await this.#client.get(
        `/api/tables/${encodeURIComponent(table)}/rows?${NEWEST_VERDICT}`,
      );
      return afterNewestVerdict(await response.json());
    } catch {
      return 0; // sending will report the error
    }
  }
}
