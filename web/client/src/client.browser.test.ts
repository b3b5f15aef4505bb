/** The client in a real browser, on a page of another origin than the gateway's. */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commands } from 'vitest/browser';
import { connect, type Client, type ClientOptions } from './index.js';
import { numbers, PEOPLE, people, person } from '../testing/people.js';
import type { GatewayInfo, GatewayOptions } from '../testing/gateway-process.js';
import { ids, rowsAre, stateIs, until } from '../testing/wait.js';

const { startGateway, callGateway, stopGateway } = commands as unknown as {
  startGateway(options: GatewayOptions): Promise<GatewayInfo>;
  callGateway(
    address: string,
    on: string,
    call: string,
    given: readonly unknown[],
  ): Promise<unknown>;
  stopGateway(address: string): Promise<void>;
};

let gateway: GatewayInfo;
const clients: Client[] = [];

const act = (on: string, call: string, ...given: unknown[]) =>
  callGateway(gateway.address, on, call, given);

function connected(options: ClientOptions): Client {
  const client = connect(options);
  clients.push(client);
  return client;
}

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

describe('a page that the gateway allows', () => {
  beforeAll(async () => {
    gateway = await startGateway({ origins: [location.origin] });
  });
  beforeEach(() => act('gateway', 'place', PEOPLE, people(5)));
  afterAll(() => stopGateway(gateway.address));

  test('receives live rows', async () => {
    expect(new URL(gateway.address).origin).not.toBe(location.origin);
    const client = connected({ url: gateway.address, key: gateway.secret });
    const table = client.subscribe('people', { order: [{ column: 'number', descending: true }] });
    await stateIs(table, 'live');
    expect(ids(table)).toEqual(numbers(0, 5).reverse());
    await act('gateway', 'upsert', 'people', [person(2, 'Mei')]);
    await rowsAre(table, ({ rows }) => rows[2]!['name'] === 'Mei');
    await act('gateway', 'upsert', 'people', [{ ...person(7), balance: '-1234567890123456.70' }]);
    const { rows } = await rowsAre(table, ({ total }) => total === 6);
    expect(rows[0]!['balance']).toBe('-1234567890123456.70');
  });

  test('can list and download tables', async () => {
    const client = connected({ url: gateway.address, key: gateway.secret });
    expect((await client.tables()).map(({ name }) => name)).toEqual(['people']);
    const blob = await client.download('people', { format: 'csv', columns: ['name'] });
    expect((await blob.text()).split('\r\n')[1]).toBe('0,Person 0');
    const missing = client.get('/api/tables/nothing');
    await expect(missing).rejects.toMatchObject({ code: 'no_such_table' });
  });

  test('is refused once with a wrong key', async () => {
    const client = connected({ url: gateway.address, key: 'eg_wrong' });
    await expect(client.login()).rejects.toMatchObject({ code: 'bad_key' });
    expect(client.status.phase).toBe('refused');
  });

  test.each([
    ['the network is back', () => window.dispatchEvent(new Event('online'))],
    ['the page becomes visible', () => document.dispatchEvent(new Event('visibilitychange'))],
  ])('tries at once when %s', async (_what, happen) => {
    const client = connected({ url: gateway.proxy, key: gateway.secret });
    const table = client.subscribe('people');
    await stateIs(table, 'live');
    await act('proxy', 'refuse');
    await act('proxy', 'cut');
    await until(() => client.status.phase === 'waiting');
    happen();
    expect(client.status.phase).toBe('connecting');
    await act('proxy', 'heal');
    await stateIs(table, 'live');
  });
});

describe('a page that the gateway does not allow', () => {
  beforeAll(async () => {
    gateway = await startGateway({});
  });
  afterAll(() => stopGateway(gateway.address));

  test('is told to add its origin', async () => {
    const client = connected({ url: gateway.address, key: gateway.secret });
    const table = client.subscribe('people');
    await until(() => client.status.phase === 'waiting');
    expect(table.status.state).toBe('connecting');
    expect(table.status.message).toContain(`${location.origin} to gateway.origins`);
    await expect(client.tables()).rejects.toMatchObject({ code: 'unreachable' });
  });
});
