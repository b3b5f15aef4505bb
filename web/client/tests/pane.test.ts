/** A window through noes, lost connections and tables that go: what it shows, and what it says. */

import { beforeEach, describe, expect, test } from 'vitest';
import { EvergridError } from '../src/errors.js';
import type { Open } from '../src/messages.js';
import { difference, full } from './author.js';
import { Talk } from './talk.js';
import { ids } from './waiting.js';

let talk: Talk;

beforeEach(() => {
  talk = new Talk();
});

describe('a difference from a state that is not there', () => {
  test('has the window closed and opened again', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5 }, [['a', 1]]));
    talk.see(difference({ sub, sequence: 9, base: 8, rows: 1 }, [[0, 1]], []));
    expect(table.status).toMatchObject({ state: 'stale', code: 'broken_frame', since: talk.now });
    expect(ids(table)).toEqual(['a']);
    expect(talk.said()).toEqual([{ type: 'close', sub }]);
    expect(talk.desk.due(talk.now)).toBeUndefined();
    const [open] = talk.said() as Open[];
    const again = open!.sub;
    expect(again).not.toBe(sub);
    expect(open!.resume?.sequence).toBe(0);
    talk.see(full({ sub: again, sequence: 9 }, [['b', 1]]));
    expect(ids(table)).toEqual(['b']);
    expect(table.status.state).toBe('live');
  });
});

describe('a no that may become a yes', () => {
  test('is asked about again, later each time', () => {
    const table = talk.subscribe('t');
    const waits: number[] = [];
    for (let round = 0; round < 8; round++) {
      const sub = talk.opened();
      talk.hear({ type: 'error', code: 'too_many_views', message: 'full', sub, retry: true });
      expect(table.status).toMatchObject({ state: 'connecting', code: 'too_many_views' });
      expect(table.status.message).toBe('Full. Asking again.');
      const wait = talk.desk.due(talk.now)!;
      waits.push(wait);
      talk.now += wait;
      talk.desk.due(talk.now);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 1 }, []));
    expect(table.status.state).toBe('live');
    talk.hear({ type: 'error', code: 'internal', message: 'oh', sub, retry: true });
    expect(table.status).toEqual({
      state: 'stale',
      code: 'internal',
      message: 'Oh. Asking again.',
      since: talk.now,
    });
    expect(talk.desk.due(talk.now)).toBe(500);
  });

  test('is asked about at once when somebody wants to know, as is a plain no', () => {
    const later = talk.subscribe('later');
    const never = talk.subscribe('never');
    const [one, two] = talk.said() as Open[];
    talk.hear({
      type: 'error',
      code: 'too_many_views',
      message: 'full',
      sub: one!.sub,
      retry: true,
    });
    talk.hear({ type: 'error', code: 'no_rights', message: 'no', sub: two!.sub });
    expect(never.status).toEqual({ state: 'refused', code: 'no_rights', message: 'No.' });
    expect(talk.said()).toEqual([]);
    talk.desk.askAgain();
    const [, again] = talk.said() as Open[];
    expect(never.status.state).toBe('refused');
    talk.see(full({ sub: again!.sub, sequence: 1 }, []));
    expect([later.status.state, never.status.state]).toEqual(['connecting', 'live']);
  });
});

describe('after a lost connection', () => {
  const open = (sub: number, more: object = {}) => ({
    type: 'open',
    sub,
    table: 't',
    offset: 0,
    limit: 300,
    ...more,
  });

  test('the same gateway is told where to go on from', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5 }, [['a', 1]]));
    const { rows } = table;
    talk.lose();
    expect(table.status).toMatchObject({ state: 'reconnecting', since: talk.now });
    talk.welcome('one');
    expect(talk.said()).toEqual([open(sub + 1, { resume: { instance: 'one', sequence: 5 } })]);
    expect(table.status.state).toBe('reconnecting');
    talk.state(sub + 1, 'live');
    expect(table.status.state).toBe('live');
    expect(table.rows).toBe(rows);
    talk.see(difference({ sub: sub + 1, sequence: 6, base: 5, rows: 1 }, [[-1, 1]], [['b', 2]]));
    expect(ids(table)).toEqual(['b']);
  });

  test('another one is not, and its word counts when its rows are there', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(
      full({ sub, sequence: 5 }, [
        ['a', 1],
        ['b', 2],
      ]),
    );
    const before = table.rows;
    talk.lose();
    talk.welcome('two');
    const had = { instance: 'two', sequence: 0 };
    expect(talk.said()).toEqual([open(sub + 1, { resume: had })]);
    talk.state(sub + 1, 'live');
    expect(table.status.state).toBe('reconnecting');
    talk.see(
      full({ sub: sub + 1, sequence: 1 }, [
        ['a', 1],
        ['b', 3],
      ]),
    );
    expect(table.status.state).toBe('live');
    expect(table.rows[0]).toBe(before[0]);
    expect(table.rows[1]).not.toBe(before[1]);
  });

  test('nothing is resumed in the middle of a move, but after it', () => {
    const table = talk.subscribe('t', { limit: 1 });
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5, total: 3 }, [['a', 1]]));
    table.move({ offset: 2 });
    expect(talk.said()).toEqual([{ type: 'move', sub, offset: 2, limit: 1 }]);
    talk.see(difference({ sub, sequence: 6, base: 5, total: 3, rows: 1 }, [[-1, 1]], [['b', 1]]));
    expect(table.snapshot).toMatchObject({ offset: 0, place: { offset: 2, limit: 1 } });
    talk.lose();
    talk.welcome('one');
    const had = { instance: 'one', sequence: 0 };
    expect(talk.said()).toEqual([open(sub + 1, { offset: 2, limit: 1, resume: had })]);
    talk.see(full({ sub: sub + 1, sequence: 3, total: 3, offset: 2 }, [['c', 1]]));
    table.move({ offset: 1 });
    talk.said();
    talk.see(full({ sub: sub + 1, sequence: 4, total: 3, offset: 1 }, [['b', 1]]));
    talk.lose();
    talk.welcome('one');
    const resume = { instance: 'one', sequence: 4 };
    expect(talk.said()).toEqual([open(sub + 2, { offset: 1, limit: 1, resume })]);
  });

  test('moved meanwhile, the rows stay and the new place is asked for', () => {
    const table = talk.subscribe('t', { limit: 1 });
    talk.see(full({ sub: talk.opened(), sequence: 5, total: 3 }, [['a', 1]]));
    talk.lose();
    table.move({ offset: 2 });
    expect(ids(table)).toEqual(['a']);
    expect(table.status.state).toBe('reconnecting');
    talk.welcome('one');
    expect(talk.said()).toMatchObject([{ type: 'open', offset: 2, limit: 1 }]);
    expect(ids(table)).toEqual(['a']);
  });

  test('what was stale before is old since then', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5 }, [['a', 1]]));
    talk.state(sub, 'stale', { since: 5_000_000 });
    talk.lose();
    expect(table.status).toMatchObject({ state: 'reconnecting', since: 5_000 });
  });
});

describe('what the gateway says of a window', () => {
  test('is passed on with its numbers', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.state(sub, 'loading', { message: 'Loading: 1 of 2.', done: 1, total: 2 });
    const status = { state: 'loading', message: 'Loading: 1 of 2.', done: 1, total: 2 };
    expect(table.status).toEqual(status);
    talk.state(sub, 'waiting');
    expect(table.status.message).toMatch(/no table called t now. It will appear/);
    expect(table.status.code).toBeUndefined();
    talk.state(sub, 'waiting', { message: 'No column b.', code: 'unknown_column' });
    expect(table.status).toEqual({
      state: 'waiting',
      message: 'No column b.',
      code: 'unknown_column',
    });
  });

  test('is not believed of rows from before the table was away', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5 }, [['a', 1]]));
    talk.state(sub, 'waiting');
    talk.state(sub, 'live');
    expect(table.status.state).toBe('waiting');
    talk.see(full({ sub, sequence: 6 }, [['a', 2]]));
    expect(table.status.state).toBe('live');
  });

  test('warns of what live rows may lack, and not otherwise', () => {
    const table = talk.subscribe('t');
    const sub = talk.opened();
    talk.see(full({ sub, sequence: 5 }, [['a', 1]]));
    talk.state(sub, 'live', { message: 'Rows may be missing.' });
    const { status, rows } = table;
    expect(status).toEqual({ state: 'live', message: 'Rows may be missing.', warning: true });
    expect(rows).toHaveLength(1);
    talk.state(sub, 'live', { message: '' });
    expect(table.status.warning).toBeUndefined();
    expect(table.status.state).toBe('live');
  });

  test('ends everything when it is said to', () => {
    const verdict = talk.hear({
      type: 'error',
      code: 'bad_key',
      message: 'not known',
      fatal: true,
    });
    expect(verdict).toEqual(new EvergridError('bad_key', 'Not known.'));
    const other = talk.hear({ type: 'welcome', protocol: 2 });
    expect(other).toMatchObject({ code: 'unsupported_protocol', retry: false });
  });
});
