/** Drives a LiveProtocol message by message, without a connection. */

import { expect } from 'vitest';
import { LiveProtocol } from '../src/live-protocol.js';
import type { TableOptions } from '../src/index.js';
import type { ClientMessage, Open } from '../src/messages.js';
import { Subscription } from '../src/subscription.js';

export class ProtocolDriver {
  readonly protocol = new LiveProtocol({ phase: 'connecting', message: 'Connecting.' }, () => 1);
  now = 1_000_000;

  constructor() {
    this.welcome('one');
  }

  welcome(instance: string): void {
    const login = {
      protocol: 1,
      instance,
      server: '0',
      key: 'k',
      control: false,
      heart_seconds: 5,
    };
    const limits = { max_windows: 64, max_rows: 5000, max_message_bytes: 16384 };
    this.receive({ type: 'welcome', ...login, ...limits });
    this.protocol.setConnectionStatus({ phase: 'open', message: 'Connected.' });
  }

  disconnect(): void {
    this.protocol.disconnected(this.now);
    this.protocol.setConnectionStatus({ phase: 'waiting', message: 'Lost.', since: this.now });
  }

  subscribe(table: string, options: TableOptions = {}): Subscription {
    const host = { scheduleSend: () => undefined, disposed: () => undefined };
    return new Subscription(this.protocol, table, options, host);
  }

  receive(message: object): unknown {
    return this.protocol.receiveText(JSON.stringify(message), this.now);
  }

  state(sub: number, state: string, more: object = {}): void {
    this.receive({ type: 'state', sub, state, message: '', ...more });
  }

  receiveFrame(frame: ArrayBuffer): void {
    this.protocol.receiveBinary(frame, this.now);
  }

  /** All messages that it sends within the next second. */
  sent(): ClientMessage[] {
    const messages: ClientMessage[] = [];
    for (let wait = 0; wait <= 1000; wait += 50) {
      for (let next = this.protocol.sendQueue.take(this.now + wait); next;) {
        messages.push(next);
        next = this.protocol.sendQueue.take(this.now + wait);
      }
    }
    this.now += 1000;
    return messages;
  }

  /** The number of the window that it opens; it must send nothing else. */
  opened(): number {
    const [open, ...others] = this.sent();
    expect(open!.type).toBe('open');
    expect(others).toEqual([]);
    return (open as Open).sub;
  }
}
