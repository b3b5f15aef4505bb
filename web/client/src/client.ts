/** The client: one connection to a gateway, for any number of tables. */

import { addressOf, keyError } from './address.js';
import { ConnectionStatusPublisher } from './connection-status.js';
import { LiveConnection } from './live-connection.js';
import { ControlClient } from './control.js';
import { EvergridError } from './errors.js';
import { HttpClient, type DownloadOptions } from './http-client.js';
import type { Listener } from './listeners.js';
import { LiveProtocol } from './live-protocol.js';
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

/** Starts to connect at once; `status` and `login()` report errors. */
export function connect(options: ClientOptions): Client {
  return new GatewayClient(options);
}

class GatewayClient implements Client {
  readonly url: string;
  readonly control: Control;
  readonly #protocol: LiveProtocol;
  readonly #connection: LiveConnection;
  readonly #publisher: ConnectionStatusPublisher;
  readonly #http: HttpClient;
  readonly #subscriptions = new Set<Subscription>();
  readonly #onOnline = () => this.#connection.retryIfWaiting();
  readonly #onVisibility = () => {
    if (document.visibilityState === 'visible') this.#connection.retryIfWaiting();
  };
  readonly #keyError: EvergridError | undefined;

  constructor(options: ClientOptions) {
    this.url = addressOf(options.url);
    const key = String(options.key ?? '').trim();
    this.#publisher = new ConnectionStatusPublisher(
      (status) => this.#protocol.setConnectionStatus(status),
      originHint(this.url),
    );
    this.#protocol = new LiveProtocol(this.#publisher.status);
    this.#connection = new LiveConnection(this.url, key, this.#protocol, this.#publisher);
    this.#http = new HttpClient(this.url, key);
    this.#keyError = keyError(key);
    this.control = new ControlClient(this.#http, () => this.#checkKey());
    if (this.#keyError) {
      this.#publisher.refused(this.#keyError);
      return;
    }
    if (typeof addEventListener === 'function') addEventListener('online', this.#onOnline);
    if (typeof document !== 'undefined')
      document.addEventListener('visibilitychange', this.#onVisibility);
    this.#connection.connect();
  }

  get status(): ConnectionStatus {
    return this.#publisher.status;
  }

  onStatus(listener: Listener<ConnectionStatus>): () => void {
    return this.#publisher.subscribe(listener);
  }

  login(): Promise<Login> {
    return new Promise((resolve, reject) => {
      let end: (() => void) | undefined;
      let settled = false;
      end = this.#publisher.subscribe(({ phase, login, code, message }) => {
        if (login) resolve(login);
        else if (phase === 'refused') reject(new EvergridError(code ?? 'refused', message));
        else if (phase === 'closed') reject(new EvergridError('closed', message));
        else return;
        settled = true;
        end?.();
      });
      if (settled) end();
    });
  }

  subscribe(table: string, options: TableOptions = {}): TableSubscription {
    const subscription = new Subscription(this.#protocol, table, options, {
      scheduleSend: () => this.#connection.scheduleSend(),
      disposed: (one) => this.#subscriptions.delete(one),
    });
    this.#subscriptions.add(subscription);
    if (this.status.phase === 'closed') subscription.dispose();
    return subscription;
  }

  async get(path: string, signal?: AbortSignal): Promise<Response> {
    this.#checkKey();
    return this.#http.get(path, signal);
  }

  async tables(signal?: AbortSignal): Promise<readonly TableInfo[]> {
    this.#checkKey();
    return this.#http.tables(signal);
  }

  async download(table: string, options: DownloadOptions, signal?: AbortSignal): Promise<Blob> {
    this.#checkKey();
    return this.#http.download(table, options, signal);
  }

  retry(): void {
    if (this.#keyError || this.status.phase === 'closed') return;
    this.#connection.retry();
  }

  close(): void {
    if (this.status.phase === 'closed') return;
    if (typeof removeEventListener === 'function') removeEventListener('online', this.#onOnline);
    if (typeof document !== 'undefined')
      document.removeEventListener('visibilitychange', this.#onVisibility);
    for (const subscription of [...this.#subscriptions]) subscription.dispose();
    this.#connection.close();
  }

  #checkKey(): void {
    if (this.#keyError) throw this.#keyError;
  }
}

/** For a page of another origin: browsers do not tell it that the gateway refuses its origin. */
function originHint(url: string): string {
  if (typeof location === 'undefined' || new URL(url).origin === location.origin) return '';
  return ` If the gateway runs, add ${location.origin} to gateway.origins in its configuration.`;
}
