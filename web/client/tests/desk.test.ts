/** The conversation with a gateway: what a real one does not do on demand. */

import { beforeEach, describe, expect, test } from 'vitest';
import type { Place, Snapshot, TableStatus } from '../src/index.js';
import type { Open } from '../src/messages.js';
import { full } from './author.js';
import { Talk } from './talk.js';
import { ids } from './waiting.js';

let talk: Talk;

beforeEach(() => {
  talk = new Talk();
});

describe('answers that come late', () => {
  test('for a window that is closed are ignored', () => {
    const closed = talk.subscribe('t');
    const sub = talk.opened();
    const seen: (Snapshot | TableStatus)[] = [];
    closed.dispose();
    closed.onRows((snapshot) => seen.push(snapshot));
    expect(talk.said()).toEqual([{ type: 'close', sub }]);
    const next = talk.subscribe('t');
    talk.see(full({ sub, sequence: 1 }, [['a', 1]]));
    talk.state(sub, 'live');
    expect(talk.hear({ type: 'error', code: 'no_rights', message: 'no', sub })).toBeUndefined();
    expect(seen).toEqual([]);
    expect(next.snapshot).toBeUndefined();
    expect(next.status.state).toBe('connecting');
  });

  test('find no other window under their number', () => {
    const subs = new Set<number>();
    for (let round = 0; round < 50; round++) {
      const table = talk.subscribe('t');
      subs.add(talk.opened());
      table.dispose();
      talk.said();
    }
    expect(subs.size).toBe(50);
  });

  test('of an earlier connection are not mixed up with this one', () => {
    const table = talk.subscribe('t');
    const first = talk.opened();
    talk.lose();
    talk.welcome('one');
    expect(talk.opened()).not.toBe(first);
    talk.see(full({ sub: first, sequence: 1 }, [['a', 1]]));
    expect(table.snapshot).toBeUndefined();
  });

  test('in words that this client does not know are ignored', () => {
    talk.subscribe('t');
    expect(talk.hear({ type: 'weather', sub: 1 })).toBeUndefined();
    expect(talk.hear({ type: 'state', sub: 1, state: 'dreaming', message: '' })).toBeUndefined();
    expect(talk.desk.text('no JSON', talk.now)).toBeUndefined();
    expect(talk.desk.text('null', talk.now)).toBeUndefined();
  });
});

describe('what is said to the gateway', () => {
  const place = (offset: number): Place => ({ offset, limit: 300 });

  test('is one opening, however much was moved before it was said', () => {
    const table = talk.subscribe('t');
    table.move(place(1));
    table.move(place(2));
    expect(talk.said()).toMatchObject([{ type: 'open', offset: 2 }]);
    const sharer = talk.subscribe('t', place(2));
    expect(talk.said()).toEqual([]);
    sharer.dispose();
  });

  test('is nothing of what was closed before it was said', () => {
    const table = talk.subscribe('t');
    table.change({ search: 'x' });
    table.dispose();
    expect(talk.said()).toEqual([]);
  });

  test('are moves no faster than anybody looks, and always the last one', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    const { outbox } = talk.desk;
    const at = talk.now;
    const sent: unknown[] = [];
    for (let ms = 0; ms < 200; ms += 10) {
      table.move(place(ms + 1));
      const next = outbox.take(at + ms);
      if (next) sent.push([ms, (next as { offset: number }).offset]);
    }
    expect(sent).toEqual([
      [0, 1],
      [50, 51],
      [100, 101],
      [150, 151],
    ]);
    expect(outbox.wait(at + 190)).toBe(10);
    expect(outbox.take(at + 200)).toEqual({ type: 'move', sub, ...place(191) });
    expect(outbox.wait(at + 200)).toBeUndefined();
  });

  test('is a heart for each heart, before everything else', () => {
    talk.subscribe('t');
    talk.hear({ type: 'heart', time: 1 });
    expect(talk.said().map((message) => message.type)).toEqual(['heart', 'open']);
  });
});

describe('a listener', () => {
  test('that moves the table on does not have others end with the older rows', async () => {
    const table = talk.subscribe('t', { limit: 1 });
    const other = talk.subscribe('t', { limit: 1, offset: 1 });
    const [one, two] = talk.said() as Open[];
    talk.see(full({ sub: two!.sub, sequence: 1, total: 2, offset: 1 }, [['b', 1]]));
    const seen: string[] = [];
    table.onRows(() => table.move({ offset: 1 }));
    table.onRows((snapshot) => seen.push(...ids(snapshot)));
    talk.see(full({ sub: one!.sub, sequence: 1, total: 2 }, [['a', 1]]));
    expect(seen).toEqual(['b']);
    expect(table.snapshot).toBe(other.snapshot);
  });

  test('that disposes of the table hears nothing after that', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    const seen: unknown[] = [];
    const end = table.onStatus((status) => seen.push(status.state));
    table.onRows(() => {
      seen.push('rows');
      table.dispose();
    });
    table.onRows(() => seen.push('not this'));
    talk.see(full({ sub, sequence: 1 }, [['a', 1]]));
    end();
    expect(seen).toEqual(['connecting', 'rows', 'closed']);
  });
});
