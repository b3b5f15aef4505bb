import { Injectable, signal } from '@angular/core';
import {
  connect,
  EvergridError,
  type Client,
  type ConnectionStatus,
  type Login,
} from '@evergrid/client';
import { forgetKey, storeKey, storedKey } from './stored-key';
import { logoutReason, isKeyError, loginError } from './login-errors';

/** A login that the gateway has not answered yet. */
export interface LoginAttempt {
  readonly message: string;
  /** Whether the gateway could not be reached so far. */
  readonly unreachable: boolean;
}

/**
 * The session of the user: one client for one key, from the gateway's `welcome` until the gateway
 * refuses it or the user logs out. The whole app uses this connection.
 */
@Injectable({ providedIn: 'root' })
export class Session {
  readonly #client = signal<Client | undefined>(undefined);
  readonly #attempt = signal<LoginAttempt | undefined>(undefined);
  readonly #login = signal<Login | undefined>(undefined);
  readonly #error = signal('');
  #cancel: (() => void) | undefined;
  #keyEntered = false;

  /** Undefined without a login. */
  readonly client = this.#client.asReadonly();
  /** The login; it stays while the gateway cannot be reached. */
  readonly login = this.#login.asReadonly();
  readonly attempt = this.#attempt.asReadonly();
  /** Why the login failed or the session ended; empty otherwise. */
  readonly error = this.#error.asReadonly();

  /** Whether the user entered the key in this page, which then moves the focus to its content. */
  get keyEntered(): boolean {
    return this.#keyEntered;
  }

  /** Logs in with the stored key, if there is one. */
  resume(): void {
    const key = storedKey();
    if (key) void this.#connect(key);
  }

  /** Resolves to true after `welcome`; to false if the login failed, with the reason in `error`. */
  logIn(key: string): Promise<boolean> {
    this.#keyEntered = true;
    return this.#connect(key);
  }

  async #connect(key: string): Promise<boolean> {
    this.#cancel?.();
    this.#error.set('');
    this.#attempt.set({ message: 'Connecting to the gateway…', unreachable: false });
    const client = connect({ key });
    const stop = client.onStatus((status) => this.#attempt.set(attemptOf(status)));
    const cancelled = new Promise<false>((resolve) => (this.#cancel = () => resolve(false)));
    const cancel = this.#cancel;
    const welcome = client.login().then(
      () => true,
      (error: unknown) => error,
    );
    const result = await Promise.race([welcome, cancelled]);
    stop();
    if (result === true) {
      this.#begin(client, key);
      return true;
    }
    client.close();
    if (result !== false) this.#fail(result);
    // Unless there is a new attempt by now.
    if (this.#cancel === cancel) this.#attempt.set(undefined);
    return false;
  }

  /** Cancels an attempt that the gateway does not answer. */
  cancel(): void {
    forgetKey();
    this.#cancel?.();
  }

  logOut(): void {
    forgetKey();
    this.#end();
  }

  #begin(client: Client, key: string): void {
    storeKey(key);
    this.#attempt.set(undefined);
    this.#client.set(client);
    const stop = client.onStatus((status) => {
      if (status.login) this.#login.set(status.login);
      if (status.phase !== 'refused' || this.#client() !== client) return;
      queueMicrotask(() => stop());
      // The URL stays, so that the user returns to the same page after logging in.
      if (isKeyError(status.code)) forgetKey();
      this.#end();
      this.#error.set(logoutReason(status.code, status.message));
    });
  }

  #end(): void {
    this.#error.set('');
    this.#client()?.close();
    this.#client.set(undefined);
  }

  #fail(error: unknown): void {
    const code = error instanceof EvergridError ? error.code : undefined;
    const message = error instanceof Error ? error.message : '';
    if (isKeyError(code)) forgetKey();
    this.#error.set(loginError(code, message));
  }
}

function attemptOf({ phase, code, message }: ConnectionStatus): LoginAttempt {
  return {
    message: code ? loginError(code, message) : message,
    unreachable: phase === 'waiting',
  };
}
