/** Lost connections, silence and restarts: tables report them and recover. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { connect, type Client, type ConnectionStatus, type TableSubscription } from './index.js';
import { numbers, PEOPLE, people, person } from '../testing/people.js';
import { GatewayProcess } from '../testing/gateway-process.js';
import { ids, rowsAre, stateIs, until } from '../testing/wait.js';

const DOWN = 2;

let gateway: GatewayProcess;
let client: Client;
let table: TableSubscription;
let phases: ConnectionStatus[];

beforeAll(async () => {
  gateway = await GatewayProcess.start();
});
afterAll(() => gateway.stop());

beforeEach(async () => {
  await gateway.run('place', PEOPLE, people(5));
  client = connect({ url: gateway.proxy, key: gateway.secret });
  phases = [];
  client.onStatus((status) => phases.push(status));
  table = client.subscribe('people');
  await stateIs(table, 'live');
});
afterEach(async () => {
  client.close();
  await gateway.network('heal');
});

test.each(['cut', 'reset'])(
  'a connection that is %s is made again, with the same rows',
  async (how) => {
    // Another subscriber, so that the gateway keeps the view.
    const other = connect({ url: gateway.address, key: gateway.secret });
    await stateIs(other.subscribe('people'), 'live');
    const { rows } = table;
    const before = Date.now();
    const frames = await gateway.metric('frames_total');
    await gateway.network('refuse');
    await gateway.network(how);
    const lost = await stateIs(table, 'reconnecting');
    expect(lost.since).toBeGreaterThan(before - 10_000);
    expect(lost.since).toBeLessThanOrEqual(Date.now());
    expect(table.rows).toBe(rows);
    await until(() => client.status.phase === 'waiting');
    expect(client.status).toMatchObject({ code: 'unreachable', since: lost.since });
    expect(client.status.retryAt).toBeGreaterThan(Date.now() - 1000);
    await gateway.network('heal');
    await stateIs(table, 'live');
    expect(table.rows).toBe(rows);
    // The window resumed: the gateway sent no rows again.
    expect(await gateway.metric('frames_total')).toBe(frames);
    other.close();
  },
);

test('changes during an outage arrive afterwards, and other rows stay the same objects', async () => {
  const before = table.rows;
  await gateway.network('refuse');
  await gateway.network('cut');
  await stateIs(table, 'reconnecting');
  await gateway.run('upsert', 'people', [person(2, 'Mei')]);
  await gateway.network('heal');
  await stateIs(table, 'live');
  await rowsAre(table, ({ rows }) => rows[2]?.['name'] === 'Mei');
  expect([0, 1, 3, 4].map((at) => table.rows[at] === before[at])).toEqual(Array(4).fill(true));
});

test('waits grow while the gateway is unreachable, and retry() resets them', async () => {
  // The wait before each attempt.
  const waits: number[] = [];
  client.onStatus(({ retryAt }) => {
    if (retryAt !== undefined) waits.push(retryAt - Date.now());
  });
  await gateway.network('refuse');
  await gateway.network('cut');
  await until(() => waits.length >= 5 && client.status.phase === 'waiting');
  expect(waits[0]).toBeLessThan(500);
  expect(waits[4]).toBeGreaterThan(1000);
  const asked = waits.length;
  client.retry();
  expect(client.status.phase).toBe('connecting');
  await until(() => waits.length > asked);
  expect(waits[asked]).toBeLessThan(500);
  await gateway.network('heal');
  await until(() => client.status.phase === 'open');
});

test('a restarted gateway is another instance, and sends its rows again', async () => {
  const before = table.rows;
  const { instance } = client.status.login!;
  await gateway.run('stop');
  await stateIs(table, 'reconnecting');
  await gateway.run('start');
  await stateIs(table, 'live');
  expect(client.status.login!.instance).not.toBe(instance);
  expect(table.rows).toBe(before);
  await gateway.run('upsert', 'people', [person(5)]);
  expect(ids(await rowsAre(table, ({ total }) => total === 6))).toEqual(numbers(0, 6));
});

test('the client reconnects after the gateway shuts down', async () => {
  await gateway.run('stop');
  await until(() => phases.some(({ code }) => code === 'shutting_down'));
  expect(table.status.state).toBe('reconnecting');
  await gateway.run('start');
  await stateIs(table, 'live');
});

test('the client connects to a gateway that starts later', async () => {
  await gateway.network('refuse');
  const early = connect({ url: gateway.proxy, key: gateway.secret });
  const waiting = early.subscribe('people');
  await until(() => early.status.phase === 'waiting');
  expect(waiting.status.state).toBe('connecting');
  expect(waiting.status.message).toMatch(/cannot be reached/);
  await gateway.network('heal');
  await stateIs(waiting, 'live');
  expect((await early.login()).key).toBe('all');
  early.close();
});

test('a connection that breaks inside a message is made again', async () => {
  await gateway.network('break_after', 1000, DOWN);
  await gateway.network('reset');
  await stateIs(table, 'live');
  expect(ids(table)).toEqual(numbers(0, 5));
});

test('a silent connection times out', async () => {
  await gateway.network('hold', DOWN);
  const waiting = () => phases.find(({ phase }) => phase === 'waiting');
  const { since, retryAt } = (await until(waiting, Boolean, 45_000))!;
  expect(retryAt! - since!).toBeGreaterThan(14_000);
  expect(table.status.since).toBe(since);
  expect(ids(table)).toEqual(numbers(0, 5));
  await gateway.network('heal');
  await stateIs(table, 'live');
});

test('close() during an outage leaves no timer', async () => {
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
    const other = connect({ url: gateway.proxy, key: gateway.secret });
    const looked = other.subscribe('people');
    // Polls without setTimeout, which would be counted.
    const turns = (isIt: () => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => (isIt() ? resolve() : void setImmediate(look));
        look();
      });
    await turns(() => looked.status.state === 'live');
    expect(pending.size).toBeGreaterThan(0);
    await gateway.network('refuse');
    await gateway.network('cut');
    await turns(() => other.status.phase === 'waiting');
    expect(pending.size).toBeGreaterThan(0);
    other.close();
    expect(pending.size).toBe(0);
  } finally {
    vi.unstubAllGlobals();
  }
});
