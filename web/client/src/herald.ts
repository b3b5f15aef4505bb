/** Tells how the connection is, to the tables and to whoever wants to know. */

import type { EvergridError } from './errors.js';
import { Listeners, safely, type Listener } from './listeners.js';
import type { Welcome } from './messages.js';
import type { ConnectionStatus, Login } from './types.js';

const CONNECTING: ConnectionStatus = {
  phase: 'connecting',
  message: 'The connection to the gateway is being made.',
};

export class Herald {
  status: ConnectionStatus = CONNECTING;
  readonly #listeners = new Listeners<ConnectionStatus>();
  readonly #first: (status: ConnectionStatus) => void;
  #hint: string;
  #since: number | undefined;

  /** `first` hears everything before the others; `hint` helps those who never got through. */
  constructor(first: (status: ConnectionStatus) => void, hint: string) {
    this.#first = first;
    this.#hint = hint;
  }

  on(listener: Listener<ConnectionStatus>): () => void {
    const end = this.status.phase === 'closed' ? () => undefined : this.#listeners.add(listener);
    safely(() => listener(this.status));
    return end;
  }

  /** While an outage lasts, what was said about it stays said. */
  connecting(): void {
    const { message } = this.status;
    const since = this.#since;
    this.#say(since === undefined ? CONNECTING : { phase: 'connecting', message, since });
  }

  open(welcome: Welcome): void {
    this.#since = undefined;
    this.#hint = '';
    this.#say({ phase: 'open', message: 'Connected.', login: loginOf(welcome) });
  }

  /** `heard` is when the last word came. */
  lost(problem: EvergridError, heard: number, retryAt: number): void {
    this.#since ??= heard;
    const message = `${problem.message} Trying again.${this.#hint}`;
    this.#say({ phase: 'waiting', message, code: problem.code, since: this.#since, retryAt });
  }

  refused({ code, message }: EvergridError): void {
    this.#since = undefined;
    this.#say({ phase: 'refused', message, code });
  }

  closed(): void {
    if (this.status.phase === 'closed') return;
    this.#say({ phase: 'closed', message: 'The connection was closed here.' });
    this.#listeners.clear();
  }

  #say(status: ConnectionStatus): void {
    this.status = status;
    this.#first(status);
    if (this.status === status) this.#listeners.tell(status, () => this.status === status);
  }
}

function loginOf(welcome: Welcome): Login {
  const { key, control, server, instance, max_rows: maxRows } = welcome;
  return { key, control, server, instance, maxRows };
}
