import { Injectable, signal } from '@angular/core';
import {
  connect,
  EvergridError,
  type Client,
  type ConnectionStatus,
  type Login,
} from '@evergrid/client';
import { forgetKey, keepKey, keptKey } from './key';
import { endSentence, isAboutKey, refusalSentence } from './sentences';

/** Somebody is at the door; the gateway has not answered yet. */
export interface Attempt {
  readonly message: string;
  /** Whether the gateway could not be reached so far. */
  readonly unreachable: boolean;
}

/**
 * Who is logged in: one client for one key, from the gateway's welcome until it says no or the
 * person leaves. Everything in the app uses this one connection.
 */
@Injectable({ providedIn: 'root' })
export class Session {
  readonly #client = signal<Client | undefined>(undefined);
  readonly #attempt = signal<Attempt | undefined>(undefined);
  readonly #login = signal<Login | undefined>(undefined);
  readonly #refusal = signal('');
  #cancel: (() => void) | undefined;
  #byHand = false;

  /** Undefined while nobody is logged in. */
  readonly client = this.#client.asReadonly();
  /** Who we are to the gateway; still known while it is away. */
  readonly login = this.#login.asReadonly();
  readonly attempt = this.#attempt.asReadonly();
  /** Why nobody is logged in, if there is more to say than that. */
  readonly refusal = this.#refusal.asReadonly();

  /** Whether the key was typed into this page: then the page should take the focus from there. */
  get byHand(): boolean {
    return this.#byHand;
  }

  /** With the key that this tab has, if it has one. */
  resume(): void {
    const key = keptKey();
    if (key) void this.#enter(key);
  }

  /** True once the gateway has said welcome; false when it has not, and `refusal` says why. */
  enter(key: string): Promise<boolean> {
    this.#byHand = true;
    return this.#enter(key);
  }

  async #enter(key: string): Promise<boolean> {
    this.#cancel?.();
    this.#refusal.set('');
    this.#attempt.set({ message: 'Connecting to the gateway…', unreachable: false });
    const client = connect({ key });
    const stop = client.onStatus((status) => this.#attempt.set(attemptOf(status)));
    const given = new Promise<false>((resolve) => (this.#cancel = () => resolve(false)));
    const cancel = this.#cancel;
    const welcome = client.login().then(
      () => true,
      (error: unknown) => error,
    );
    const answer = await Promise.race([welcome, given]);
    stop();
    if (answer === true) {
      this.#begin(client, key);
      return true;
    }
    client.close();
    if (answer !== false) this.#refuse(answer);
    // Unless somebody tries another key by now.
    if (this.#cancel === cancel) this.#attempt.set(undefined);
    return false;
  }

  /** Gives up an attempt that the gateway does not answer. */
  cancel(): void {
    forgetKey();
    this.#cancel?.();
  }

  leave(): void {
    forgetKey();
    this.#end();
  }

  #begin(client: Client, key: string): void {
    keepKey(key);
    this.#attempt.set(undefined);
    this.#client.set(client);
    const stop = client.onStatus((status) => {
      if (status.login) this.#login.set(status.login);
      if (status.phase !== 'refused' || this.#client() !== client) return;
      queueMicrotask(() => stop());
      // The address stays as it is, so that one returns to the same place.
      if (isAboutKey(status.code)) forgetKey();
      this.#end();
      this.#refusal.set(endSentence(status.code, status.message));
    });
  }

  #end(): void {
    this.#refusal.set('');
    this.#client()?.close();
    this.#client.set(undefined);
  }

  #refuse(error: unknown): void {
    const code = error instanceof EvergridError ? error.code : undefined;
    const message = error instanceof Error ? error.message : '';
    if (isAboutKey(code)) forgetKey();
    this.#refusal.set(refusalSentence(code, message));
  }
}

function attemptOf({ phase, code, message }: ConnectionStatus): Attempt {
  return {
    message: code ? refusalSentence(code, message) : message,
    unreachable: phase === 'waiting',
  };
}
