/** The live protocol, in cases that a real gateway does not produce on demand. */

import { beforeEach, describe, expect, test } from 'vitest';
import type { Place, Snapshot, TableStatus } from './index.js';
import type { Open } from './messages.js';
import { full } from '../testing/frame-builder.js';
import { ProtocolDriver } from '../testing/protocol-driver.js';
import { ids } from '../testing/wait.js';

let driver: ProtocolDriver;

beforeEach(() => {
  driver = new ProtocolDriver();
});

describe('late answers', () => {
  test('for a closed window are ignored', () => {
    const closed = driver.subscribe('t');
    const sub = driver.opened();
    const seen: (Snapshot | TableStatus)[] = [];
    closed.dispose();
    closed.onRows((snapshot) => seen.push(snapshot));
    expect(driver.sent()).toEqual([{ type: 'close', sub }]);
    const next = driver.subscribe('t');
    driver.receiveFrame(full({ sub, sequence: 1 }, [['a', 1]]));
    driver.state(sub, 'live');
    expect(
      driver.receive({ type: 'error', code: 'no_rights', message: 'no', sub }),
    ).toBeUndefined();
    expect(seen).toEqual([]);
    expect(next.snapshot).toBeUndefined();
    expect(next.status.state).toBe('connecting');
  });

  test('reach no other window, because numbers are not reused', () => {
    const subs = new Set<number>();
    for (let round = 0; round < 50; round++) {
      const table = driver.subscribe('t');
      subs.add(driver.opened());
      table.dispose();
      driver.sent();
    }
    expect(subs.size).toBe(50);
  });

  test('of an earlier connection are ignored', () => {
    const table = driver.subscribe('t');
    const first = driver.opened();
    driver.disconnect();
    driver.welcome('one');
    expect(driver.opened()).not.toBe(first);
    driver.receiveFrame(full({ sub: first, sequence: 1 }, [['a', 1]]));
    expect(table.snapshot).toBeUndefined();
  });

  test('of unknown types are ignored', () => {
    driver.subscribe('t');
    expect(driver.receive({ type: 'weather', sub: 1 })).toBeUndefined();
    expect(
      driver.receive({ type: 'state', sub: 1, state: 'dreaming', message: '' }),
    ).toBeUndefined();
    expect(driver.protocol.receiveText('no JSON', driver.now)).toBeUndefined();
    expect(driver.protocol.receiveText('null', driver.now)).toBeUndefined();
  });
});

describe('the send queue', () => {
  const place = (offset: number): Place => ({ offset, limit: 300 });

  test('has one open message, however often the window moved before', () => {
    const table = driver.subscribe('t');
    table.move(place(1));
    table.move(place(2));
    expect(driver.sent()).toMatchObject([{ type: 'open', offset: 2 }]);
    const sharer = driver.subscribe('t', place(2));
    expect(driver.sent()).toEqual([]);
    sharer.dispose();
  });

  test('has nothing of windows that were closed before they were opened', () => {
    const table = driver.subscribe('t');
    table.change({ search: 'x' });
    table.dispose();
    expect(driver.sent()).toEqual([]);
  });

  test('limits the rate of moves, and always sends the last one', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    const { sendQueue } = driver.protocol;
    const at = driver.now;
    const sent: unknown[] = [];
    for (let ms = 0; ms < 200; ms += 10) {
      table.move(place(ms + 1));
      const next = sendQueue.take(at + ms);
      if (next) sent.push([ms, (next as { offset: number }).offset]);
    }
    expect(sent).toEqual([
      [0, 1],
      [50, 51],
      [100, 101],
      [150, 151],
    ]);
    expect(sendQueue.wait(at + 190)).toBe(10);
    expect(sendQueue.take(at + 200)).toEqual({ type: 'move', sub, ...place(191) });
    expect(sendQueue.wait(at + 200)).toBeUndefined();
  });

  test('answers each heartbeat, before all other messages', () => {
    driver.subscribe('t');
    driver.receive({ type: 'heart', time: 1 });
    expect(driver.sent().map((message) => message.type)).toEqual(['heart', 'open']);
  });
});

describe('a listener', () => {
  test('that moves the table does not leave others with the older rows', async () => {
    const table = driver.subscribe('t', { limit: 1 });
    const other = driver.subscribe('t', { limit: 1, offset: 1 });
    const [one, two] = driver.sent() as Open[];
    driver.receiveFrame(full({ sub: two!.sub, sequence: 1, total: 2, offset: 1 }, [['b', 1]]));
    const seen: string[] = [];
    table.onRows(() => table.move({ offset: 1 }));
    table.onRows((snapshot) => seen.push(...ids(snapshot)));
    driver.receiveFrame(full({ sub: one!.sub, sequence: 1, total: 2 }, [['a', 1]]));
    expect(seen).toEqual(['b']);
    expect(table.snapshot).toBe(other.snapshot);
  });

  test('that disposes of the table is not called again', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    const seen: unknown[] = [];
    const end = table.onStatus((status) => seen.push(status.state));
    table.onRows(() => {
      seen.push('rows');
      table.dispose();
    });
    table.onRows(() => seen.push('not this'));
    driver.receiveFrame(full({ sub, sequence: 1 }, [['a', 1]]));
    end();
    expect(seen).toEqual(['connecting', 'rows', 'closed']);
  });
});
