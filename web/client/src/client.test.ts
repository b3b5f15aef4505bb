/** The client with a real gateway. */

import { describe, expect, test } from 'vitest';
import { connect, EvergridError, type TableStatus } from './index.js';
import { numbers, PEOPLE, people, person } from '../testing/people.js';
import { clientFixture } from '../testing/client-fixture.js';
import { ids, rowsAre, stateIs, until } from '../testing/wait.js';

const at = clientFixture();

describe('logging in', () => {
  test('returns the login', async () => {
    const login = await at.client.login();
    expect(login).toMatchObject({ key: 'all', control: false, maxRows: 5000 });
    expect(at.client.status).toMatchObject({ phase: 'open', login });
    expect(at.client.url).toBe(at.gateway.address);
  });

  test('with a wrong key is refused once, until retry()', async () => {
    const before = await at.gateway.metric('connections_total');
    const wrong = connect({ url: at.gateway.address, key: 'eg_wrong_key' });
    const table = wrong.subscribe('people');
    const error = await wrong.login().catch((problem: unknown) => problem as EvergridError);
    expect(error).toBeInstanceOf(EvergridError);
    expect(error).toMatchObject({ code: 'bad_key', retry: false });
    expect(wrong.status).toMatchObject({ phase: 'refused', code: 'bad_key' });
    expect(table.status).toMatchObject({ state: 'refused', code: 'bad_key' });
    expect(table.status.message).toMatch(/^[A-Z].*key.*\.$/);
    expect(JSON.stringify([wrong.status, table.status])).not.toContain('eg_wrong_key');
    wrong.retry();
    expect(wrong.status.phase).toBe('connecting');
    await until(() => wrong.status.phase === 'refused');
    expect((await at.gateway.metric('connections_total')) - before).toBeLessThanOrEqual(3);
    wrong.close();
  });

  test.each([
    ['', 'not_logged_in'],
    ['eg_ü', 'bad_key'],
    ['two words', 'bad_key'],
  ])('with the key %j fails without a connection', async (key, code) => {
    const keyless = connect({ url: at.gateway.address, key });
    expect(keyless.status).toMatchObject({ phase: 'refused', code });
    await expect(keyless.login()).rejects.toMatchObject({ code });
    await expect(keyless.tables()).rejects.toMatchObject({ code });
    keyless.close();
  });

  test('after the client was closed fails', async () => {
    at.client.close();
    await expect(at.client.login()).rejects.toMatchObject({ code: 'closed' });
    expect(at.client.subscribe('people').status.state).toBe('closed');
  });

  test('ends when the key is removed', async () => {
    const key = await at.gateway.run<string>('new_key', 'guest');
    const guest = connect({ url: at.gateway.address, key });
    await until(() => {
      if (guest.status.phase === 'refused') guest.retry();
      return guest.status.phase === 'open';
    });
    const table = guest.subscribe('people');
    await stateIs(table, 'live');
    await at.gateway.run('remove_key', 'guest');
    await stateIs(table, 'refused');
    expect(guest.status).toMatchObject({ phase: 'refused', code: 'bad_key' });
    expect(table.rows).toHaveLength(10);
    guest.close();
  });
});

describe('a table', () => {
  test('shows its rows and what changes in them', async () => {
    const table = at.client.subscribe('people');
    const statuses: TableStatus['state'][] = [];
    table.onStatus((status) => statuses.push(status.state));
    await stateIs(table, 'live');
    expect([...new Set(statuses)]).toEqual(['connecting', 'live']);
    expect(ids(table)).toEqual(numbers(0, 10));
    expect(table.rows[3]).toEqual({
      _id: '3',
      number: 3,
      name: 'Person 3',
      balance: '3.50',
      ts: 1_000_003,
    });
    const before = table.snapshot!;
    expect(before).toMatchObject({ table: 'people', total: 10, offset: 0, generation: 1 });
    expect(Math.abs(Date.now() - before.time)).toBeLessThan(60_000);
    await at.gateway.run('upsert', 'people', [person(3, 'Mei'), person(10)]);
    const after = await rowsAre(table, (snapshot) => snapshot.total === 11);
    expect(after.rows[3]!['name']).toBe('Mei');
    expect(after.rows[4]).toBe(before.rows[4]);
    expect(after.columns).toBe(before.columns);
    expect(before.rows[3]!['name']).toBe('Person 3');
    await at.gateway.run('delete', 'people', ['0', '1']);
    expect(ids(await rowsAre(table, ({ total }) => total === 9))).toEqual(numbers(2, 11));
  });

  test('that does not exist yet becomes live when it does', async () => {
    const table = at.client.subscribe('later');
    const status = await stateIs(table, 'waiting');
    expect(status.message).toContain('no table later');
    expect(table.rows).toEqual([]);
    await at.gateway.run('place', { ...PEOPLE, name: 'later' }, people(2));
    await stateIs(table, 'live');
    expect(ids(table)).toEqual(['0', '1']);
    await at.gateway.run('withdraw', 'later');
    await stateIs(table, 'waiting');
    expect(ids(table)).toEqual(['0', '1']);
  });

  test('without rows is live and empty', async () => {
    await at.gateway.run('place', { ...PEOPLE, name: 'empty' }, []);
    const table = at.client.subscribe('empty');
    await stateIs(table, 'live');
    expect(table.snapshot).toMatchObject({ rows: [], total: 0 });
    expect(table.snapshot!.columns.map((column) => column.name)).toEqual(
      PEOPLE.columns.map((column) => column.name),
    );
  });

  test('follows a new generation with other columns', async () => {
    const table = at.client.subscribe('people');
    await stateIs(table, 'live');
    const columns = [...PEOPLE.columns, { name: 'city', type: { kind: 'text' } as const }];
    await at.gateway.run('place', { ...PEOPLE, columns }, [{ ...person(1), city: 'Oslo' }], 2);
    const after = await rowsAre(table, (snapshot) => snapshot.generation === 2);
    expect(after.rows).toEqual([expect.objectContaining({ _id: '1', city: 'Oslo' })]);
    expect(after.columns.at(-1)).toEqual({ name: 'city', type: { kind: 'text' }, role: 'data' });
  });

  test('has the status that the gateway reports', async () => {
    const table = at.client.subscribe('people');
    await stateIs(table, 'live');
    await at.gateway.run('say', 'people', 'stale', 'Kafka does not answer.', 5_000_000);
    expect(await stateIs(table, 'stale')).toEqual({
      state: 'stale',
      message: 'Kafka does not answer.',
      since: 5_000,
    });
    await at.gateway.run('say', 'people', 'live');
    await stateIs(table, 'live');
  });

  test('calls the other listeners when one throws', async () => {
    const table = at.client.subscribe('people');
    const seen: number[] = [];
    const reported: unknown[] = [];
    const original = console.error;
    console.error = (error: unknown) => reported.push(error);
    try {
      table.onRows(() => {
        throw new Error('a mistake of the page');
      });
      table.onRows((snapshot) => seen.push(snapshot.total));
      await until(() => seen.length > 0);
    } finally {
      console.error = original;
    }
    expect(reported.map(String)).toEqual(['Error: a mistake of the page']);
    expect(table.status.state).toBe('live');
  });
});
