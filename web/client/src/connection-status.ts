/** The status of the connection, published to the tables and to the page's listeners. */

import type { EvergridError } from './errors.js';
import { callSafely, Listeners, type Listener } from './listeners.js';
import type { Welcome } from './messages.js';
import type { ConnectionStatus, Login } from './types.js';

const CONNECTING: ConnectionStatus = {
  phase: 'connecting',
  message: 'Connecting to the gateway.',
};

export class ConnectionStatusPublisher {
  status: ConnectionStatus = CONNECTING;
  readonly #listeners = new Listeners<ConnectionStatus>();
  readonly #first: (status: ConnectionStatus) => void;
  #hint: string;
  #since: number | undefined;

  /**
   * `first` receives every status before the listeners do. `hint` is added to errors until the
   * first successful connection.
   */
  constructor(first: (status: ConnectionStatus) => void, hint: string) {
    this.#first = first;
    this.#hint = hint;
  }

  /** Calls the listener with the present status and every later one; returns the unsubscriber. */
  subscribe(listener: Listener<ConnectionStatus>): () => void {
    const end = this.status.phase === 'closed' ? () => undefined : this.#listeners.add(listener);
    callSafely(() => listener(this.status));
    return end;
  }

  /** During an outage the message that explains it stays. */
  connecting(): void {
    const { message } = this.status;
    const since = this.#since;
    this.#publish(since === undefined ? CONNECTING : { phase: 'connecting', message, since });
  }

  open(welcome: Welcome): void {
    this.#since = undefined;
    this.#hint = '';
    this.#publish({ phase: 'open', message: 'Connected.', login: loginOf(welcome) });
  }

  /** `lastReceived` is the time of the last message from the gateway. */
  lost(error: EvergridError, lastReceived: number, retryAt: number): void {
    this.#since ??= lastReceived;
    const message = `${error.message} Retrying.${this.#hint}`;
    this.#publish({ phase: 'waiting', message, code: error.code, since: this.#since, retryAt });
  }

  refused({ code, message }: EvergridError): void {
    this.#since = undefined;
    this.#publish({ phase: 'refused', message, code });
  }

  closed(): void {
    if (this.status.phase === 'closed') return;
    this.#publish({ phase: 'closed', message: 'The page closed the connection.' });
    this.#listeners.clear();
  }

  #publish(status: ConnectionStatus): void {
    this.status = status;
    this.#first(status);
    if (this.status === status) this.#listeners.notify(status, () => this.status === status);
  }
}

function loginOf(welcome: Welcome): Login {
  const { key, control, server, instance, max_rows: maxRows } = welcome;
  return { key, control, server, instance, maxRows };
}
