/** One connection to a gateway, for as many tables as a page likes. */

import { addressOf, keyProblem } from './address.js';
import { ControlDesk } from './control.js';
import { Desk } from './desk.js';
import { EvergridError } from './errors.js';
import { Herald } from './herald.js';
import { Asker, type DownloadOptions } from './http.js';
import { Link } from './link.js';
import type { Listener } from './listeners.js';
import { Subscription } from './subscription.js';
import type {
  Client,
  ClientOptions,
  ConnectionStatus,
  Control,
  Login,
  TableInfo,
  TableOptions,
  TableSubscription,
} from './types.js';

/** Connects at once; what goes wrong is said by `status` and `login()`. */
export function connect(options: ClientOptions): Client {
  return new PageClient(options);
}

class PageClient implements Client {
  readonly url: string;
  readonly control: Control;
  readonly #desk: Desk;
  readonly #link: Link;
  readonly #herald: Herald;
  readonly #asker: Asker;
  readonly #subscriptions = new Set<Subscription>();
  readonly #nudge = () => this.#link.nudge();
  readonly #look = () => {
    if (document.visibilityState === 'visible') this.#link.nudge();
  };
  readonly #keyProblem: EvergridError | undefined;

  constructor(options: ClientOptions) {
    this.url = addressOf(options.url);
    const key = String(options.key ?? '').trim();
    this.#herald = new Herald((status) => this.#desk.stand(status), hint(this.url));
    this.#desk = new Desk(this.#herald.status);
    this.#link = new Link(this.url, key, this.#desk, this.#herald);
    this.#asker = new Asker(this.url, key);
    this.#keyProblem = keyProblem(key);
    this.control = new ControlDesk(this.#asker, () => this.#checkKey());
    if (this.#keyProblem) {
      this.#herald.refused(this.#keyProblem);
      return;
    }
    if (typeof addEventListener === 'function') addEventListener('online', this.#nudge);
    if (typeof document !== 'undefined') document.addEventListener('visibilitychange', this.#look);
    this.#link.connect();
  }

  get status(): ConnectionStatus {
    return this.#herald.status;
  }

  onStatus(listener: Listener<ConnectionStatus>): () => void {
    return this.#herald.on(listener);
  }

  login(): Promise<Login> {
    return new Promise((resolve, reject) => {
      let end: (() => void) | undefined;
      let over = false;
      end = this.#herald.on(({ phase, login, code, message }) => {
        if (login) resolve(login);
        else if (phase === 'refused') reject(new EvergridError(code ?? 'refused', message));
        else if (phase === 'closed') reject(new EvergridError('closed', message));
        else return;
        over = true;
        end?.();
      });
      if (over) end();
    });
  }

  subscribe(table: string, options: TableOptions = {}): TableSubscription {
    const wake = () => this.#link.wake();
    const gone = (subscription: Subscription) => this.#subscriptions.delete(subscription);
    const subscription = new Subscription(this.#desk, table, options, wake, gone);
    this.#subscriptions.add(subscription);
    if (this.status.phase === 'closed') subscription.dispose();
    return subscription;
  }

  async get(path: string, signal?: AbortSignal): Promise<Response> {
    this.#checkKey();
    return this.#asker.get(path, signal);
  }

  async tables(signal?: AbortSignal): Promise<readonly TableInfo[]> {
    this.#checkKey();
    return this.#asker.tables(signal);
  }

  async download(table: string, options: DownloadOptions, signal?: AbortSignal): Promise<Blob> {
    this.#checkKey();
    return this.#asker.download(table, options, signal);
  }

  retry(): void {
    if (this.#keyProblem || this.status.phase === 'closed') return;
    this.#link.retry();
  }

  close(): void {
    if (this.status.phase === 'closed') return;
    if (typeof removeEventListener === 'function') removeEventListener('online', this.#nudge);
    if (typeof document !== 'undefined')
      document.removeEventListener('visibilitychange', this.#look);
    for (const subscription of [...this.#subscriptions]) subscription.dispose();
    this.#link.close();
  }

  #checkKey(): void {
    if (this.#keyProblem) throw this.#keyProblem;
  }
}

/** For a page of another origin that never gets through: the usual reason cannot be seen from it. */
function hint(url: string): string {
  if (typeof location === 'undefined' || new URL(url).origin === location.origin) return '';
  return ` If it runs, its configuration must have ${location.origin} in gateway.origins.`;
}
