/**
 * The WebSocket connection to a gateway, made again until it is closed or refused.
 *
 * 1. Connect, send `hello` with the key, receive `welcome`.
 * 2. Receive and send until the connection ends, or until nothing has arrived for too long: a
 *    dead connection cannot be told from an idle one, so the gateway sends heartbeats.
 * 3. Wait, longer after each attempt, and continue with 1. After an error that a retry cannot
 *    solve, report it and connect again only when the page asks for it.
 */

import { liveAddress } from './address.js';
import { Backoff } from './backoff.js';
import type { ConnectionStatusPublisher } from './connection-status.js';
import { closeError, EvergridError } from './errors.js';
import { BrokenFrame } from './frames.js';
import { reportUncaught } from './listeners.js';
import type { ConnectionEvent, LiveProtocol } from './live-protocol.js';
import { encode, PROTOCOL, SUBPROTOCOL, type Welcome } from './messages.js';
import { RateLimiter } from './send-queue.js';
import { openSocket } from './socket.js';

/** For the connection and the gateway's first message. */
const CONNECT_TIMEOUT_MS = 10_000;
/** Without a message for this long, or for so many heartbeats, the connection counts as dead. */
const SILENCE_TIMEOUT_MS = 15_000;
const MISSED_HEARTBEATS = 3;
/** A timer this late was suspended with its page; messages received meanwhile are read first. */
const SUSPENDED_MS = 1_000;

export class LiveConnection {
  readonly #address: string;
  readonly #key: string;
  readonly #protocol: LiveProtocol;
  readonly #publisher: ConnectionStatusPublisher;
  readonly #backoff = new Backoff();
  /** For the next attempt, the connect timeout or the silence timeout. */
  readonly #timeout = new Timer();
  /** For the next message to send. */
  readonly #sendTimer = new Timer();
  #rateLimiter = new RateLimiter();
  #socket: WebSocket | undefined;
  #fatalError: EvergridError | undefined;
  #welcome: Welcome | undefined;
  #startedAt = 0;
  #lastReceived = 0;
  #sendScheduled = false;

  constructor(
    address: string,
    key: string,
    protocol: LiveProtocol,
    publisher: ConnectionStatusPublisher,
  ) {
    this.#address = address;
    this.#key = key;
    this.#protocol = protocol;
    this.#publisher = publisher;
  }

  /** Connects, unless there is a connection. */
  connect(): void {
    if (this.#socket || this.#publisher.status.phase === 'closed') return;
    this.#startedAt = this.#lastReceived = Date.now();
    this.#fatalError = undefined;
    this.#rateLimiter = new RateLimiter();
    this.#publisher.connecting();
    // A listener may have closed the client or called `retry`.
    if (this.#socket || this.#publisher.status.phase !== 'connecting') return;
    let socket: WebSocket;
    try {
      socket = openSocket(liveAddress(this.#address));
    } catch {
      // For example ws: from a page of https:. The browser writes the reason to the console.
      const message = 'Connection not allowed: this page may not connect to that address.';
      this.#publisher.refused(new EvergridError('unreachable', message));
      return;
    }
    this.#socket = socket;
    this.#timeout.set(CONNECT_TIMEOUT_MS, () => this.#timedOut());
    socket.onopen = () => this.#sendHello(socket);
    socket.onmessage = (event) => this.#receive(socket, event.data);
    socket.onclose = (event) => {
      if (socket === this.#socket) this.#end(this.#fatalError ?? closeError(event.code));
    };
  }

  /** Ends a wait early, because the network may be back. */
  retryIfWaiting(): void {
    if (this.#publisher.status.phase === 'waiting') this.connect();
  }

  /** Tries again at once, also after a refusal. */
  retry(): void {
    this.#backoff.reset();
    if (this.#welcome) this.#protocol.reopenFailed();
    else this.connect();
    this.scheduleSend();
  }

  /** Sends the queue after the present task, so that its messages can replace each other. */
  scheduleSend(): void {
    if (this.#sendScheduled || !this.#welcome) return;
    this.#sendScheduled = true;
    queueMicrotask(() => {
      this.#sendScheduled = false;
      this.#send();
    });
  }

  close(): void {
    this.#closeSocket();
    this.#protocol.disconnected(Date.now());
    this.#publisher.closed();
  }

  #sendHello(socket: WebSocket): void {
    if (socket !== this.#socket) return;
    if (socket.protocol === SUBPROTOCOL) {
      socket.send(encode({ type: 'hello', protocol: PROTOCOL, key: this.#key }));
      return;
    }
    const message = 'Unsupported protocol: the server at this address is not a known gateway.';
    this.#end(new EvergridError('unsupported_protocol', message));
  }

  #receive(socket: WebSocket, data: unknown): void {
    if (socket !== this.#socket) return;
    const now = (this.#lastReceived = Date.now());
    try {
      if (typeof data === 'string') this.#handle(this.#protocol.receiveText(data, now));
      else this.#protocol.receiveBinary(data as ArrayBuffer, now);
    } catch (error) {
      if (!(error instanceof BrokenFrame)) reportUncaught(error);
      const message = 'Invalid message: the data from the gateway is unreadable.';
      this.#end(new EvergridError('broken_frame', message, true));
    }
    this.scheduleSend();
  }

  #handle(event: ConnectionEvent): void {
    if (event instanceof EvergridError) {
      // The close code follows; an error that a retry cannot solve need not wait for it.
      this.#fatalError = event;
      if (!event.retry) this.#end(event);
    } else if (event) {
      this.#welcome = event;
      this.#watchSilence(this.#silenceTimeout(event));
      this.#publisher.open(event);
    }
  }

  #silenceTimeout(welcome: Welcome): number {
    // A gateway may be configured to send heartbeats less often than by default.
    return Math.max(SILENCE_TIMEOUT_MS, MISSED_HEARTBEATS * welcome.heart_seconds * 1000);
  }

  /** Checks after this time whether the gateway has been silent for too long. */
  #watchSilence(wait: number): void {
    const due = Date.now() + wait;
    this.#timeout.set(wait, () => {
      const now = Date.now();
      const left = this.#lastReceived + this.#silenceTimeout(this.#welcome!) - now;
      if (left > 0) this.#watchSilence(left);
      else if (now - due > SUSPENDED_MS) this.#watchSilence(SUSPENDED_MS);
      else this.#timedOut();
    });
  }

  #timedOut(): void {
    const message = 'Connection timed out: the gateway sent nothing for too long.';
    this.#end(new EvergridError('unreachable', message, true));
  }

  #end(error = new EvergridError('unreachable', 'The gateway cannot be reached.', true)): void {
    const now = Date.now();
    const wasOpen = this.#welcome !== undefined;
    if (wasOpen && Backoff.isStable(now - this.#startedAt)) this.#backoff.reset();
    this.#closeSocket();
    this.#protocol.disconnected(this.#lastReceived);
    if (!error.retry) {
      this.#publisher.refused(error);
      return;
    }
    const wait = this.#backoff.next();
    this.#timeout.set(wait, () => this.connect());
    this.#publisher.lost(error, this.#lastReceived, now + wait);
  }

  #closeSocket(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    this.#welcome = undefined;
    this.#timeout.clear();
    this.#sendTimer.clear();
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  /** Sends what is due, within the rate limit, and schedules the rest. */
  #send(): void {
    const socket = this.#socket;
    if (!socket || !this.#welcome) return;
    const { sendQueue } = this.#protocol;
    const now = Date.now();
    const reopenWait = this.#protocol.reopenDue(now) ?? Infinity;
    let limitWait = this.#rateLimiter.wait(now);
    while (limitWait === 0) {
      const message = sendQueue.take(now);
      if (!message) break;
      socket.send(encode(message));
      this.#rateLimiter.count();
      limitWait = this.#rateLimiter.wait(now);
    }
    const queueWait = sendQueue.wait(now);
    const sendWait = queueWait === undefined ? Infinity : Math.max(queueWait, limitWait);
    const wait = Math.min(sendWait, reopenWait);
    if (wait < Infinity) this.#sendTimer.set(wait, () => this.#send());
    else this.#sendTimer.clear();
  }
}

/** A timeout of which at most one is pending. */
class Timer {
  #timeout: ReturnType<typeof setTimeout> | undefined;

  set(wait: number, callback: () => void): void {
    this.clear();
    this.#timeout = setTimeout(() => {
      this.#timeout = undefined;
      callback();
    }, wait);
  }

  clear(): void {
    clearTimeout(this.#timeout);
    this.#timeout = undefined;
  }
}
