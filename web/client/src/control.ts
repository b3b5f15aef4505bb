/** Changing the pipeline behind the tables: what may be asked for, and asking. */

import type { Asker } from './http.js';
import type { Control, ControlChoices, ControlMessage, ControlPlace } from './types.js';

const PATH = '/api/control';

const SILENCE =
  'The gateway did not answer, so the message may have been sent or not. The list of control ' +
  'messages says which; sending it twice does no harm.';

/** `check` throws what is wrong with the key, before anybody is asked. */
export class ControlDesk implements Control {
  readonly #asker: Asker;
  readonly #check: () => void;

  constructor(asker: Asker, check: () => void) {
    this.#asker = asker;
    this.#check = check;
  }

  async choices(signal?: AbortSignal): Promise<ControlChoices> {
    this.#check();
    const answer = await this.#asker.get(PATH, signal);
    return ((await answer.json()) as { control: ControlChoices }).control;
  }

  async ask(message: ControlMessage, signal?: AbortSignal): Promise<ControlPlace> {
    this.#check();
    const answer = await this.#asker.post(PATH, message, SILENCE, signal);
    return ((await answer.json()) as { sent: ControlPlace }).sent;
  }
}
