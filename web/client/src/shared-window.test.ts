/** Rows and status of a window through errors, lost connections and missing tables. */

import { beforeEach, describe, expect, test } from 'vitest';
import { EvergridError } from './errors.js';
import type { Open } from './messages.js';
import { difference, full } from '../testing/frame-builder.js';
import { ProtocolDriver } from '../testing/protocol-driver.js';
import { ids } from '../testing/wait.js';

let driver: ProtocolDriver;

beforeEach(() => {
  driver = new ProtocolDriver();
});

describe('a difference from an unknown state', () => {
  test('closes the window and opens it again', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5 }, [['a', 1]]));
    driver.receiveFrame(difference({ sub, sequence: 9, base: 8, rows: 1 }, [[0, 1]], []));
    expect(table.status).toMatchObject({ state: 'stale', code: 'broken_frame', since: driver.now });
    expect(ids(table)).toEqual(['a']);
    expect(driver.sent()).toEqual([{ type: 'close', sub }]);
    expect(driver.protocol.reopenDue(driver.now)).toBeUndefined();
    const [open] = driver.sent() as Open[];
    const again = open!.sub;
    expect(again).not.toBe(sub);
    expect(open!.resume?.sequence).toBe(0);
    driver.receiveFrame(full({ sub: again, sequence: 9 }, [['b', 1]]));
    expect(ids(table)).toEqual(['b']);
    expect(table.status.state).toBe('live');
  });
});

describe('a temporary error', () => {
  test('is retried with backoff', () => {
    const table = driver.subscribe('t');
    const waits: number[] = [];
    for (let round = 0; round < 8; round++) {
      const sub = driver.opened();
      driver.receive({ type: 'error', code: 'too_many_views', message: 'full', sub, retry: true });
      expect(table.status).toMatchObject({ state: 'connecting', code: 'too_many_views' });
      expect(table.status.message).toBe('Full. Retrying.');
      const wait = driver.protocol.reopenDue(driver.now)!;
      waits.push(wait);
      driver.now += wait;
      driver.protocol.reopenDue(driver.now);
    }
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000]);
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 1 }, []));
    expect(table.status.state).toBe('live');
    driver.receive({ type: 'error', code: 'internal', message: 'oh', sub, retry: true });
    expect(table.status).toEqual({
      state: 'stale',
      code: 'internal',
      message: 'Oh. Retrying.',
      since: driver.now,
    });
    expect(driver.protocol.reopenDue(driver.now)).toBe(500);
  });

  test('is retried at once on request, as is a refusal', () => {
    const later = driver.subscribe('later');
    const never = driver.subscribe('never');
    const [one, two] = driver.sent() as Open[];
    driver.receive({
      type: 'error',
      code: 'too_many_views',
      message: 'full',
      sub: one!.sub,
      retry: true,
    });
    driver.receive({ type: 'error', code: 'no_rights', message: 'no', sub: two!.sub });
    expect(never.status).toEqual({ state: 'refused', code: 'no_rights', message: 'No.' });
    expect(driver.sent()).toEqual([]);
    driver.protocol.reopenFailed();
    const [, again] = driver.sent() as Open[];
    expect(never.status.state).toBe('refused');
    driver.receiveFrame(full({ sub: again!.sub, sequence: 1 }, []));
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

  test('the window resumes on the same gateway', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5 }, [['a', 1]]));
    const { rows } = table;
    driver.disconnect();
    expect(table.status).toMatchObject({ state: 'reconnecting', since: driver.now });
    driver.welcome('one');
    expect(driver.sent()).toEqual([open(sub + 1, { resume: { instance: 'one', sequence: 5 } })]);
    expect(table.status.state).toBe('reconnecting');
    driver.state(sub + 1, 'live');
    expect(table.status.state).toBe('live');
    expect(table.rows).toBe(rows);
    driver.receiveFrame(
      difference({ sub: sub + 1, sequence: 6, base: 5, rows: 1 }, [[-1, 1]], [['b', 2]]),
    );
    expect(ids(table)).toEqual(['b']);
  });

  test('another gateway sends all rows, and its state holds once they have arrived', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(
      full({ sub, sequence: 5 }, [
        ['a', 1],
        ['b', 2],
      ]),
    );
    const before = table.rows;
    driver.disconnect();
    driver.welcome('two');
    const had = { instance: 'two', sequence: 0 };
    expect(driver.sent()).toEqual([open(sub + 1, { resume: had })]);
    driver.state(sub + 1, 'live');
    expect(table.status.state).toBe('reconnecting');
    driver.receiveFrame(
      full({ sub: sub + 1, sequence: 1 }, [
        ['a', 1],
        ['b', 3],
      ]),
    );
    expect(table.status.state).toBe('live');
    expect(table.rows[0]).toBe(before[0]);
    expect(table.rows[1]).not.toBe(before[1]);
  });

  test('a window resumes after a move, not during it', () => {
    const table = driver.subscribe('t', { limit: 1 });
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5, total: 3 }, [['a', 1]]));
    table.move({ offset: 2 });
    expect(driver.sent()).toEqual([{ type: 'move', sub, offset: 2, limit: 1 }]);
    driver.receiveFrame(
      difference({ sub, sequence: 6, base: 5, total: 3, rows: 1 }, [[-1, 1]], [['b', 1]]),
    );
    expect(table.snapshot).toMatchObject({ offset: 0, place: { offset: 2, limit: 1 } });
    driver.disconnect();
    driver.welcome('one');
    const had = { instance: 'one', sequence: 0 };
    expect(driver.sent()).toEqual([open(sub + 1, { offset: 2, limit: 1, resume: had })]);
    driver.receiveFrame(full({ sub: sub + 1, sequence: 3, total: 3, offset: 2 }, [['c', 1]]));
    table.move({ offset: 1 });
    driver.sent();
    driver.receiveFrame(full({ sub: sub + 1, sequence: 4, total: 3, offset: 1 }, [['b', 1]]));
    driver.disconnect();
    driver.welcome('one');
    const resume = { instance: 'one', sequence: 4 };
    expect(driver.sent()).toEqual([open(sub + 2, { offset: 1, limit: 1, resume })]);
  });

  test('a window that moved meanwhile keeps its rows and asks for the new place', () => {
    const table = driver.subscribe('t', { limit: 1 });
    driver.receiveFrame(full({ sub: driver.opened(), sequence: 5, total: 3 }, [['a', 1]]));
    driver.disconnect();
    table.move({ offset: 2 });
    expect(ids(table)).toEqual(['a']);
    expect(table.status.state).toBe('reconnecting');
    driver.welcome('one');
    expect(driver.sent()).toMatchObject([{ type: 'open', offset: 2, limit: 1 }]);
    expect(ids(table)).toEqual(['a']);
  });

  test('a window that was stale keeps the time since when', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5 }, [['a', 1]]));
    driver.state(sub, 'stale', { since: 5_000_000 });
    driver.disconnect();
    expect(table.status).toMatchObject({ state: 'reconnecting', since: 5_000 });
  });
});

describe('a state message', () => {
  test('determines the status', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.state(sub, 'loading', { message: 'Loading: 1 of 2.', done: 1, total: 2 });
    const status = { state: 'loading', message: 'Loading: 1 of 2.', done: 1, total: 2 };
    expect(table.status).toEqual(status);
    driver.state(sub, 'waiting');
    expect(table.status.message).toMatch(/no table called t now. It appears/);
    expect(table.status.code).toBeUndefined();
    driver.state(sub, 'waiting', { message: 'No column b.', code: 'unknown_column' });
    expect(table.status).toEqual({
      state: 'waiting',
      message: 'No column b.',
      code: 'unknown_column',
    });
  });

  test('live is deferred until the table has sent its rows again', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5 }, [['a', 1]]));
    driver.state(sub, 'waiting');
    driver.state(sub, 'live');
    expect(table.status.state).toBe('waiting');
    driver.receiveFrame(full({ sub, sequence: 6 }, [['a', 2]]));
    expect(table.status.state).toBe('live');
  });

  test('with a message for live rows is a warning', () => {
    const table = driver.subscribe('t');
    const sub = driver.opened();
    driver.receiveFrame(full({ sub, sequence: 5 }, [['a', 1]]));
    driver.state(sub, 'live', { message: 'Rows may be missing.' });
    const { status, rows } = table;
    expect(status).toEqual({ state: 'live', message: 'Rows may be missing.', warning: true });
    expect(rows).toHaveLength(1);
    driver.state(sub, 'live', { message: '' });
    expect(table.status.warning).toBeUndefined();
    expect(table.status.state).toBe('live');
  });

  test('that is fatal ends the connection', () => {
    const event = driver.receive({
      type: 'error',
      code: 'bad_key',
      message: 'not known',
      fatal: true,
    });
    expect(event).toEqual(new EvergridError('bad_key', 'Not known.'));
    const other = driver.receive({ type: 'welcome', protocol: 2 });
    expect(other).toMatchObject({ code: 'unsupported_protocol', retry: false });
  });
});
