/** Cuts, silences and restarts: tables say so, and come back by themselves. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  connect,
  type Client,
  type ConnectionStatus,
  type TableSubscription,
} from '../src/index.js';
import { numbers, PEOPLE, people, person } from './people.js';
import { Stage } from './stage.js';
import { ids, rowsAre, stateIs, until } from './waiting.js';

const DOWN = 2;

let stage: Stage;
let client: Client;
let table: TableSubscription;
let phases: ConnectionStatus[];

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

beforeEach(async () => {
  await stage.gateway('place', PEOPLE, people(5));
  client = connect({ url: stage.way, key: stage.secret });
  phases = [];
  client.onStatus((status) => phases.push(status));
  table = client.subscribe('people');
  await stateIs(table, 'live');
});
afterEach(async () => {
  client.close();
  await stage.network('heal');
});

test.each(['cut', 'reset'])(
  'a connection that is %s comes back, with the same rows',
  async (how) => {
    // Somebody else looks at the same, so that the gateway keeps it.
    const other = connect({ url: stage.address, key: stage.secret });
    await stateIs(other.subscribe('people'), 'live');
    const { rows } = table;
    const before = Date.now();
    const frames = await stage.metric('frames_total');
    await stage.network('refuse');
    await stage.network(how);
    const lost = await stateIs(table, 'reconnecting');
    expect(lost.since).toBeGreaterThan(before - 10_000);
    expect(lost.since).toBeLessThanOrEqual(Date.now());
    expect(table.rows).toBe(rows);
    await until(() => client.status.phase === 'waiting');
    expect(client.status).toMatchObject({ code: 'unreachable', since: lost.since });
    expect(client.status.retryAt).toBeGreaterThan(Date.now() - 1000);
    await stage.network('heal');
    await stateIs(table, 'live');
    expect(table.rows).toBe(rows);
    // It went on from where it was: nothing was sent that we had.
    expect(await stage.metric('frames_total')).toBe(frames);
    other.close();
  },
);

test('what changed meanwhile is there afterwards, and nothing else seems to change', async () => {
  const before = table.rows;
  await stage.network('refuse');
  await stage.network('cut');
  await stateIs(table, 'reconnecting');
  await stage.gateway('upsert', 'people', [person(2, 'Mei')]);
  await stage.network('heal');
  await stateIs(table, 'live');
  await rowsAre(table, ({ rows }) => rows[2]?.['name'] === 'Mei');
  expect([0, 1, 3, 4].map((at) => table.rows[at] === before[at])).toEqual(Array(4).fill(true));
});

test('waits grow while nobody answers, and a person can cut them short', async () => {
  // How long it means to wait, each time.
  const waits: number[] = [];
  client.onStatus(({ retryAt }) => {
    if (retryAt !== undefined) waits.push(retryAt - Date.now());
  });
  await stage.network('refuse');
  await stage.network('cut');
  await until(() => waits.length >= 5 && client.status.phase === 'waiting');
  expect(waits[0]).toBeLessThan(500);
  expect(waits[4]).toBeGreaterThan(1000);
  const asked = waits.length;
  client.retry();
  expect(client.status.phase).toBe('connecting');
  await until(() => waits.length > asked);
  expect(waits[asked]).toBeLessThan(500);
  await stage.network('heal');
  await until(() => client.status.phase === 'open');
});

test('a gateway that restarts is another instance, and gives its rows anew', async () => {
  const before = table.rows;
  const { instance } = client.status.login!;
  await stage.gateway('stop');
  await stateIs(table, 'reconnecting');
  await stage.gateway('start');
  await stateIs(table, 'live');
  expect(client.status.login!.instance).not.toBe(instance);
  expect(table.rows).toBe(before);
  await stage.gateway('upsert', 'people', [person(5)]);
  expect(ids(await rowsAre(table, ({ total }) => total === 6))).toEqual(numbers(0, 6));
});

test('a gateway that says goodbye is asked again', async () => {
  await stage.gateway('stop');
  await until(() => phases.some(({ code }) => code === 'shutting_down'));
  expect(table.status.state).toBe('reconnecting');
  await stage.gateway('start');
  await stateIs(table, 'live');
});

test('a gateway that is never there is connected to as soon as it is', async () => {
  await stage.network('refuse');
  const early = connect({ url: stage.way, key: stage.secret });
  const waiting = early.subscribe('people');
  await until(() => early.status.phase === 'waiting');
  expect(waiting.status.state).toBe('connecting');
  expect(waiting.status.message).toMatch(/cannot be reached/);
  await stage.network('heal');
  await stateIs(waiting, 'live');
  expect((await early.login()).key).toBe('all');
  early.close();
});

test('a connection that was half read is lost whole', async () => {
  await stage.network('break_after', 1000, DOWN);
  await stage.network('reset');
  await stateIs(table, 'live');
  expect(ids(table)).toEqual(numbers(0, 5));
});

test('a silent connection is given up for a new one', async () => {
  await stage.network('hold', DOWN);
  const waiting = () => phases.find(({ phase }) => phase === 'waiting');
  const { since, retryAt } = (await until(waiting, Boolean, 45_000))!;
  expect(retryAt! - since!).toBeGreaterThan(14_000);
  expect(table.status.since).toBe(since);
  expect(ids(table)).toEqual(numbers(0, 5));
  await stage.network('heal');
  await stateIs(table, 'live');
});

test('closing in the middle of it leaves no timer behind', async () => {
  client.close();
  const pending = new Set<unknown>();
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  vi.stubGlobal('setTimeout', (ring: () => void, wait: number) => {
    const timer: unknown = set(() => {
      pending.delete(timer);
      ring();
    }, wait);
    pending.add(timer);
    return timer;
  });
  vi.stubGlobal('clearTimeout', (timer: never) => {
    pending.delete(timer);
    clear(timer);
  });
  try {
    const other = connect({ url: stage.way, key: stage.secret });
    const looked = other.subscribe('people');
    // Looks without timers of its own, which would be counted.
    const turns = (isIt: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => (isIt() ? resolve() : void setImmediate(look));
        look();
      });
    await turns(() => looked.status.state === 'live');
    expect(pending.size).toBeGreaterThan(0);
    await stage.network('refuse');
    await stage.network('cut');
    await turns(() => other.status.phase === 'waiting');
    expect(pending.size).toBeGreaterThan(0);
    other.close();
    expect(pending.size).toBe(0);
  } finally {
    vi.unstubAllGlobals();
  }
});
