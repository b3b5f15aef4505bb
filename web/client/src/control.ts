/** Control messages: what they may ask for, and sending them. */

import type { HttpClient } from './http-client.js';
import type { Control, ControlChoices, ControlMessage, ControlPlace } from './types.js';

const PATH = '/api/control';

const NO_ANSWER =
  'The gateway did not answer, so the message may have been sent or not. See the list of control ' +
  'messages; sending it twice does no harm.';

/** `checkKey` throws for a key that no gateway would accept. */
export class ControlClient implements Control {
  readonly #http: HttpClient;
  readonly #checkKey: () => void;

  constructor(http: HttpClient, checkKey: () => void) {
    this.#http = http;
    this.#checkKey = checkKey;
  }

  async choices(signal?: AbortSignal): Promise<ControlChoices> {
    this.#checkKey();
    const response = await this.#http.get(PATH, signal);
    return ((await response.json()) as { control: ControlChoices }).control;
  }

  async ask(message: ControlMessage, signal?: AbortSignal): Promise<ControlPlace> {
    this.#checkKey();
    const response = await this.#http.post(PATH, message, NO_ANSWER, signal);
    return ((await response.json()) as { sent: ControlPlace }).sent;
  }
}
