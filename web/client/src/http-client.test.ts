/** Requests over HTTP. */

import { tableFromIPC } from '@uwdata/flechette';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Client } from './index.js';
import { PEOPLE, people } from '../testing/people.js';
import { GatewayProcess } from '../testing/gateway-process.js';

let gateway: GatewayProcess;
let client: Client;

beforeAll(async () => {
  gateway = await GatewayProcess.start();
  await gateway.run('place', PEOPLE, [
    ...people(500),
    { number: 500, name: '=1+1', ts: 2_000_000 },
  ]);
  client = connect({ url: `${gateway.address}/`, key: gateway.secret });
});
afterAll(async () => {
  client.close();
  await gateway.stop();
});

test('tables are those that the key may read', async () => {
  const tables = await client.tables();
  expect(tables.map(({ name, rows, state }) => [name, rows, state])).toEqual([
    ['people', 501, 'live'],
  ]);
});

test('get() reads any path of the gateway', async () => {
  const answer = await client.get('/api/tables/people');
  expect(await answer.json()).toMatchObject({ name: 'people' });
});

describe('a download', () => {
  test('has all rows of a query as CSV that is safe for spreadsheets', async () => {
    const options = {
      format: 'csv',
      columns: ['name'],
      order: [{ column: 'number', descending: true }],
    };
    const blob = await client.download('people', options as never);
    const lines = (await blob.text()).trim().split('\r\n');
    expect(lines).toHaveLength(502);
    expect(lines.slice(0, 3)).toEqual(['_id,name', "500,'=1+1", '499,Person 499']);
    expect(blob.type).toMatch(/text\/csv/);
  });

  test('has the rows of a place as Arrow', async () => {
    const blob = await client.download('people', {
      format: 'arrow',
      filter: { column: 'number', op: 'greater_or_equal', value: 100 },
      search: 'person',
      offset: 10,
      limit: 5,
    });
    const table = tableFromIPC(await blob.arrayBuffer());
    expect([...table.getChild('_id')]).toEqual(['110', '111', '112', '113', '114']);
  });
});

describe('an error', () => {
  test('has the code and message of the gateway', async () => {
    await expect(client.get('/api/tables/nothing')).rejects.toMatchObject({
      name: 'EvergridError',
      code: 'no_such_table',
      retry: false,
      message: expect.stringMatching(/^[A-Z].*nothing.*\.$/),
    });
    const wrong = client.download('people', { format: 'csv', order: [{ column: 'x' }] });
    await expect(wrong).rejects.toMatchObject({ code: 'unknown_column' });
  });

  test('is thrown for a wrong key', async () => {
    const wrong = connect({ url: gateway.address, key: 'eg_wrong' });
    await expect(wrong.tables()).rejects.toMatchObject({ code: 'bad_key' });
    wrong.close();
  });

  test('is thrown when the gateway is unreachable', async () => {
    const unreachable = connect({ url: 'http://127.0.0.1:9', key: 'eg_any' });
    await expect(unreachable.tables()).rejects.toMatchObject({ code: 'unreachable', retry: true });
    unreachable.close();
  });

  test('is thrown when the request is aborted', async () => {
    const control = new AbortController();
    control.abort();
    await expect(client.tables(control.signal)).rejects.toMatchObject({ name: 'AbortError' });
  });

  test.each(['//elsewhere.example/x', 'http://elsewhere.example/'])(
    'is thrown before the key could be sent to %s',
    async (path) => {
      await expect(client.get(path)).rejects.toMatchObject({ name: 'EvergridError' });
    },
  );
});

describe('an address', () => {
  test.each([
    ['http://grid.example', 'http://grid.example'],
    ['wss://grid.example:8443/base/', 'https://grid.example:8443/base'],
    [' https://grid.example/ ', 'https://grid.example'],
  ])('%j is %j', (url, base) => {
    const there = connect({ url, key: '' });
    expect(there.url).toBe(base);
    there.close();
  });

  test.each([
    'grid',
    'ftp://grid',
    'http://user:secret@grid',
    'http://grid?key=secret',
    'http://grid#secret',
  ])('%j is invalid', (url) => {
    let message = '';
    try {
      connect({ url, key: 'eg_any' });
    } catch (error) {
      message = String(error);
    }
    expect(message).toMatch(/address/);
    expect(message).not.toContain('secret');
  });

  test('is required outside of browsers', () => {
    expect(() => connect({ key: 'eg_any' })).toThrow(/not a URL/);
  });
});
