/**
 * One connection after the other to a gateway, until it is closed or refused.
 *
 * 1. Connect, say hello with the key, hear the welcome.
 * 2. Read and answer until the connection ends, or nothing was heard for too long: a dead
 *    connection looks exactly like a quiet one, so the gateway beats a heart.
 * 3. Wait a little, longer each time, and go on with 1. What makes no sense to try again is
 *    said, and tried again only when somebody asks for it.
 */

import { liveAddress } from './address.js';
import { Alarm } from './alarm.js';
import type { Desk } from './desk.js';
import { EvergridError, farewell } from './errors.js';
import { BrokenFrame } from './frames.js';
import type { Herald } from './herald.js';
import { complain } from './listeners.js';
import { encode, PROTOCOL, SUBPROTOCOL, type Welcome } from './messages.js';
import { Pace } from './outbox.js';
import { CONNECT_MS, MISSED_HEARTS, OVERSLEPT_MS, SILENCE_MS, Waits } from './patience.js';
import { openSocket } from './socket.js';

/** Keeps a desk's windows alive; the herald hears how it goes. */
export class Link {
  readonly #address: string;
  readonly #key: string;
  readonly #desk: Desk;
  readonly #herald: Herald;
  readonly #waits = new Waits();
  /** When to connect again, give up on an attempt, or find that it is too silent. */
  readonly #watch = new Alarm();
  /** When to say the next thing. */
  readonly #pump = new Alarm();
  #pace = new Pace();
  #socket: WebSocket | undefined;
  #verdict: EvergridError | undefined;
  #welcome: Welcome | undefined;
  #began = 0;
  #heard = 0;
  #awake = false;

  constructor(address: string, key: string, desk: Desk, herald: Herald) {
    this.#address = address;
    this.#key = key;
    this.#desk = desk;
    this.#herald = herald;
  }

  /** Connects, unless there is a connection. */
  connect(): void {
    if (this.#socket || this.#herald.status.phase === 'closed') return;
    this.#began = this.#heard = Date.now();
    this.#verdict = undefined;
    this.#pace = new Pace();
    this.#herald.connecting();
    // Whoever heard that may have closed the client, or asked for a try of their own.
    if (this.#socket || this.#herald.status.phase !== 'connecting') return;
    let socket: WebSocket;
    try {
      socket = openSocket(liveAddress(this.#address));
    } catch {
      // A page of https may not speak ws, for one: the browser's own words go to the console.
      this.#herald.refused(
        new EvergridError('unreachable', 'This page may not connect to that address.'),
      );
      return;
    }
    this.#socket = socket;
    this.#watch.set(CONNECT_MS, () => this.#drop());
    socket.onopen = () => this.#greet(socket);
    socket.onmessage = (event) => this.#hear(socket, event.data);
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#end(this.#verdict ?? farewell(event.code));
    };
  }

  /** Something may be better now: the wait is over. */
  nudge(): void {
    if (this.#herald.status.phase === 'waiting') this.connect();
  }

  /** Somebody asks for another try, whatever was said before. */
  retry(): void {
    this.#waits.reset();
    if (this.#welcome) this.#desk.askAgain();
    else this.connect();
    this.wake();
  }

  /** There is something to say; all that comes up in this turn is said together. */
  wake(): void {
    if (this.#awake || !this.#welcome) return;
    this.#awake = true;
    queueMicrotask(() => {
      this.#awake = false;
      this.#say();
    });
  }

  close(): void {
    this.#hangUp();
    this.#desk.lost(Date.now());
    this.#herald.closed();
  }

  #greet(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    if (socket.protocol === SUBPROTOCOL) {
      socket.send(encode({ type: 'hello', protocol: PROTOCOL, key: this.#key }));
      return;
    }
    const what = 'What answers at this address is no gateway that this page understands.';
    this.#end(new EvergridError('unsupported_protocol', what));
  }

  #hear(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    const now = (this.#heard = Date.now());
    try {
      if (typeof data === 'string') this.#obey(this.#desk.text(data, now));
      else this.#desk.binary(data as ArrayBuffer, now);
    } catch (error) {
      if (!(error instanceof BrokenFrame)) complain(error);
      this.#end(new EvergridError('broken_frame', 'The gateway sent something unreadable.', true));
    }
    this.wake();
  }

  #obey(verdict: Welcome | EvergridError | undefined): void {
    if (verdict instanceof EvergridError) {
      // The close code follows; what makes no sense to try again needs no waiting for it.
      this.#verdict = verdict;
      if (!verdict.retry) this.#end(verdict);
    } else if (verdict) {
      this.#welcome = verdict;
      this.#listen(this.#silence(verdict));
      this.#herald.open(verdict);
    }
  }

  #silence(welcome: Welcome): number {
    // A gateway may say a slower rhythm than this client expects, and is not dead then.
    return Math.max(SILENCE_MS, MISSED_HEARTS * welcome.heart_seconds * 1000);
  }

  /** Looks again when it may have been silent for too long. */
  #listen(wait: number): void {
    const due = Date.now() + wait;
    this.#watch.set(wait, () => {
      const now = Date.now();
      const left = this.#heard + this.#silence(this.#welcome!) - now;
      if (left > 0) this.#listen(left);
      else if (now - due > OVERSLEPT_MS) this.#listen(OVERSLEPT_MS);
      else this.#drop();
    });
  }

  #drop(): void {
    this.#end(
      new EvergridError('unreachable', 'Nothing was heard of the gateway for too long.', true),
    );
  }

  #end(problem = new EvergridError('unreachable', 'The gateway cannot be reached.', true)): void {
    const now = Date.now();
    const was = this.#welcome !== undefined;
    if (was && Waits.isGood(now - this.#began)) this.#waits.reset();
    this.#hangUp();
    this.#desk.lost(this.#heard);
    if (!problem.retry) {
      this.#herald.refused(problem);
      return;
    }
    const wait = this.#waits.next();
    this.#watch.set(wait, () => this.connect());
    this.#herald.lost(problem, this.#heard, now + wait);
  }

  #hangUp(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#welcome = undefined;
    this.#watch.stop();
    this.#pump.stop();
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** Says what is to be said, no faster than a gateway takes it. */
  #say(): void {
    const socket = this.#socket;
    if (!socket || !this.#welcome) return;
    const { outbox } = this.#desk;
    const now = Date.now();
    const due = this.#desk.due(now);
    let wait = this.#pace.wait(now);
    while (wait === 0) {
      const message = outbox.take(now);
      if (!message) break;
      socket.send(encode(message));
      this.#pace.count();
      wait = this.#pace.wait(now);
    }
    const next = outbox.wait(now);
    const later = next === undefined ? Infinity : Math.max(next, wait);
    const soonest = Math.min(later, due ?? Infinity);
    if (soonest < Infinity) this.#pump.set(soonest, () => this.#say());
    else this.#pump.stop();
  }
}
