/** Tables of a real gateway: what a page sees of them. */

import { describe, expect, test } from 'vitest';
import { connect, EvergridError, type TableStatus } from '../src/index.js';
import { numbers, PEOPLE, people, person } from './people.js';
import { visit } from './visit.js';
import { ids, rowsAre, stateIs, until } from './waiting.js';

const at = visit();

describe('logging in', () => {
  test('tells who we are', async () => {
    const login = await at.client.login();
    expect(login).toMatchObject({ key: 'all', control: false, maxRows: 5000 });
    expect(at.client.status).toMatchObject({ phase: 'open', login });
    expect(at.client.url).toBe(at.stage.address);
  });

  test('with a wrong key is refused once, with a sentence, until somebody asks again', async () => {
    const before = await at.stage.metric('connections_total');
    const wrong = connect({ url: at.stage.address, key: 'eg_wrong_key' });
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
    expect((await at.stage.metric('connections_total')) - before).toBeLessThanOrEqual(3);
    wrong.close();
  });

  test.each([
    ['', 'not_logged_in'],
    ['eg_ü', 'bad_key'],
    ['two words', 'bad_key'],
  ])('with the key %j asks nobody', async (key, code) => {
    const keyless = connect({ url: at.stage.address, key });
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
    const key = await at.stage.gateway<string>('new_key', 'guest');
    const guest = connect({ url: at.stage.address, key });
    await until(() => {
      if (guest.status.phase === 'refused') guest.retry();
      return guest.status.phase === 'open';
    });
    const table = guest.subscribe('people');
    await stateIs(table, 'live');
    await at.stage.gateway('remove_key', 'guest');
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
    await at.stage.gateway('upsert', 'people', [person(3, 'Mei'), person(10)]);
    const after = await rowsAre(table, (snapshot) => snapshot.total === 11);
    expect(after.rows[3]!['name']).toBe('Mei');
    expect(after.rows[4]).toBe(before.rows[4]);
    expect(after.columns).toBe(before.columns);
    expect(before.rows[3]!['name']).toBe('Person 3');
    await at.stage.gateway('delete', 'people', ['0', '1']);
    expect(ids(await rowsAre(table, ({ total }) => total === 9))).toEqual(numbers(2, 11));
  });

  test('that does not exist is waited for', async () => {
    const table = at.client.subscribe('later');
    const status = await stateIs(table, 'waiting');
    expect(status.message).toContain('no table later');
    expect(table.rows).toEqual([]);
    await at.stage.gateway('place', { ...PEOPLE, name: 'later' }, people(2));
    await stateIs(table, 'live');
    expect(ids(table)).toEqual(['0', '1']);
    await at.stage.gateway('withdraw', 'later');
    await stateIs(table, 'waiting');
    expect(ids(table)).toEqual(['0', '1']);
  });

  test('without rows is live and empty', async () => {
    await at.stage.gateway('place', { ...PEOPLE, name: 'empty' }, []);
    const table = at.client.subscribe('empty');
    await stateIs(table, 'live');
    expect(table.snapshot).toMatchObject({ rows: [], total: 0 });
    expect(table.snapshot!.columns.map((column) => column.name)).toEqual(
      PEOPLE.columns.map((column) => column.name),
    );
  });

  test('is followed to a new generation with other columns', async () => {
    const table = at.client.subscribe('people');
    await stateIs(table, 'live');
    const columns = [...PEOPLE.columns, { name: 'city', type: { kind: 'text' } as const }];
    await at.stage.gateway('place', { ...PEOPLE, columns }, [{ ...person(1), city: 'Oslo' }], 2);
    const after = await rowsAre(table, (snapshot) => snapshot.generation === 2);
    expect(after.rows).toEqual([expect.objectContaining({ _id: '1', city: 'Oslo' })]);
    expect(after.columns.at(-1)).toEqual({ name: 'city', type: { kind: 'text' }, role: 'data' });
  });

  test('says what the gateway says of it', async () => {
    const table = at.client.subscribe('people');
    await stateIs(table, 'live');
    await at.stage.gateway('say', 'people', 'stale', 'Kafka does not answer.', 5_000_000);
    expect(await stateIs(table, 'stale')).toEqual({
      state: 'stale',
      message: 'Kafka does not answer.',
      since: 5_000,
    });
    await at.stage.gateway('say', 'people', 'live');
    await stateIs(table, 'live');
  });

  test('keeps answering to others when one listener throws', async () => {
    const table = at.client.subscribe('people');
    const seen: number[] = [];
    const complaints: unknown[] = [];
    const original = console.error;
    console.error = (error: unknown) => complaints.push(error);
    try {
      table.onRows(() => {
        throw new Error('a mistake of the page');
      });
      table.onRows((snapshot) => seen.push(snapshot.total));
      await until(() => seen.length > 0);
    } finally {
      console.error = original;
    }
    expect(complaints.map(String)).toEqual(['Error: a mistake of the page']);
    expect(table.status.state).toBe('live');
  });
});
