/** A conversation without a connection, word by word. */

import { expect } from 'vitest';
import { Desk } from '../src/desk.js';
import type { TableOptions } from '../src/index.js';
import type { ClientMessage, Open } from '../src/messages.js';
import { Subscription } from '../src/subscription.js';

/** A desk with a pen: what it would say, and what it is told. */
export class Talk {
  readonly desk = new Desk({ phase: 'connecting', message: 'Connecting.' }, () => 1);
  now = 1_000_000;

  constructor() {
    this.welcome('one');
  }

  welcome(instance: string): void {
    const said = { protocol: 1, instance, server: '0', key: 'k', control: false, heart_seconds: 5 };
    const limits = { max_windows: 64, max_rows: 5000, max_message_bytes: 16384 };
    this.hear({ type: 'welcome', ...said, ...limits });
    this.desk.stand({ phase: 'open', message: 'Connected.' });
  }

  lose(): void {
    this.desk.lost(this.now);
    this.desk.stand({ phase: 'waiting', message: 'Lost.', since: this.now });
  }

  subscribe(table: string, options: TableOptions = {}): Subscription {
    const nothing = () => undefined;
    return new Subscription(this.desk, table, options, nothing, nothing);
  }

  hear(message: object): unknown {
    return this.desk.text(JSON.stringify(message), this.now);
  }

  state(sub: number, state: string, more: object = {}): void {
    this.hear({ type: 'state', sub, state, message: '', ...more });
  }

  see(frame: ArrayBuffer): void {
    this.desk.binary(frame, this.now);
  }

  /** All that it says, when there is time for everything. */
  said(): ClientMessage[] {
    const messages: ClientMessage[] = [];
    for (let wait = 0; wait <= 1000; wait += 50) {
      for (let next = this.desk.outbox.take(this.now + wait); next;) {
        messages.push(next);
        next = this.desk.outbox.take(this.now + wait);
      }
    }
    this.now += 1000;
    return messages;
  }

  /** The number of the window that it opens, and of nothing else. */
  opened(): number {
    const [open, ...others] = this.said();
    expect(open!.type).toBe('open');
    expect(others).toEqual([]);
    return (open as Open).sub;
  }
}
