/** Queries, places and sharing of windows. */

import { describe, expect, test } from 'vitest';
import {
  connect,
  EvergridError,
  type Filter,
  type TableOptions,
  type TableStatus,
} from './index.js';
import { numbers, PEOPLE, people, person } from '../testing/people.js';
import { counted, clientFixture } from '../testing/client-fixture.js';
import { ids, rowsAre, stateIs, until } from '../testing/wait.js';

const at = clientFixture();

describe('a query', () => {
  test('has columns, filter, search and order', async () => {
    const table = at.client.subscribe('people', {
      columns: ['name', 'number'],
      filter: { column: 'number', op: 'greater', value: 2 },
      search: 'person',
      order: [{ column: 'number', descending: true }],
      limit: 3,
    });
    await stateIs(table, 'live');
    expect(table.snapshot!.total).toBe(7);
    expect(table.rows.map((row) => Object.entries(row))).toEqual(
      [9, 8, 7].map((n) => [
        ['_id', String(n)],
        ['name', `Person ${n}`],
        ['number', n],
      ]),
    );
  });

  const number = (op: string, value: unknown) => ({ column: 'number', op, value }) as Filter;
  test.each<{ code: string; options: TableOptions; words: RegExp }>([
    { code: 'unknown_column', options: { order: [{ column: 'nmae' }] }, words: /name/ },
    { code: 'bad_value', options: { filter: number('equals', 'x') }, words: /number/ },
    { code: 'bad_filter', options: { filter: number('like', 1) }, words: /like/ },
    { code: 'bad_search', options: { search: 'x'.repeat(300) }, words: /256/ },
    { code: 'bad_window', options: { limit: 5001 }, words: /5000/ },
    { code: 'too_large', options: { columns: ['x'.repeat(20_000)] }, words: /16384/ },
  ])(
    'that is invalid is refused without affecting others: $code',
    async ({ code, options, words }) => {
      const good = at.client.subscribe('people');
      const bad = at.client.subscribe('people', options);
      const status = await stateIs(bad, 'refused');
      expect(status.code).toBe(code);
      expect(status.message).toMatch(words);
      expect(status.message).toMatch(/^[^a-z].*\.$/s);
      await stateIs(good, 'live');
      bad.change({});
      if (code !== 'bad_window') await stateIs(bad, 'live');
    },
  );

  test('of a table that the key may not read is refused', async () => {
    const key = await at.gateway.run<string>('new_key', 'narrow', ['other']);
    const narrow = connect({ url: at.gateway.address, key });
    const table = narrow.subscribe('people');
    await until(() => {
      if (narrow.status.phase === 'refused') narrow.retry();
      return table.status.code === 'no_rights';
    });
    expect(table.status).toMatchObject({ state: 'refused', code: 'no_rights' });
    expect(table.status.message).toContain('may not read');
    expect(narrow.status.phase).toBe('open');
    narrow.close();
  });

  test('can be changed, and the rows stay until the new ones arrive', async () => {
    const table = at.client.subscribe('people', { order: [{ column: 'number' }] });
    await stateIs(table, 'live');
    const before = table.rows;
    table.change({ order: [{ column: 'number', descending: true }] });
    expect(table.rows).toBe(before);
    expect(table.status.state).toBe('loading');
    await rowsAre(table, ({ rows }) => rows[0]?._id === '9');
    expect(table.rows[9]).toBe(before[0]);
    expect(table.status.state).toBe('live');
    await counted(at.gateway, 'subscribers', 1);
  });

  test('with an invalid place throws', () => {
    expect(() => at.client.subscribe('people', { offset: NaN })).toThrow(EvergridError);
    expect(() => at.client.subscribe('people', { limit: 1.5 })).toThrow(/whole numbers/);
  });
});

describe('moving', () => {
  test('shows other rows of the same result, with their real offset', async () => {
    const table = at.client.subscribe('people', { limit: 4 });
    const seen: [number, number, string][] = [];
    table.onRows((snapshot) =>
      seen.push([snapshot.place.offset, snapshot.offset, ids(snapshot)[0]!]),
    );
    await stateIs(table, 'live');
    const before = table.rows;
    table.move({ offset: 2 });
    const after = await rowsAre(table, ({ offset }) => offset === 2);
    expect(ids(after)).toEqual(numbers(2, 6));
    expect(after.rows[0]).toBe(before[2]);
    expect(after.place).toEqual({ offset: 2, limit: 4 });
    table.move({ offset: -3, limit: 3 });
    expect(ids(await rowsAre(table, ({ offset }) => offset === 7))).toEqual(numbers(7, 10));
    await at.gateway.run('upsert', 'people', [person(10)]);
    expect(ids(await rowsAre(table, ({ offset }) => offset === 8))).toEqual(numbers(8, 11));
    for (const [, offset, first] of seen) expect(first).toBe(String(offset));
    await counted(at.gateway, 'subscribers', 1);
  });

  test('beyond the end gives no rows, and moving back gives rows', async () => {
    const table = at.client.subscribe('people', { offset: 100 });
    await stateIs(table, 'live');
    expect(table.snapshot).toMatchObject({ rows: [], total: 10, offset: 100 });
    table.move({ offset: 9 });
    expect(ids(await rowsAre(table, ({ rows }) => rows.length > 0))).toEqual(['9']);
  });

  test('fast sends few messages, and ends at the last place', async () => {
    await at.gateway.run('place', { ...PEOPLE, name: 'many' }, people(3000));
    const table = at.client.subscribe('many', { limit: 20 });
    await stateIs(table, 'live');
    const before = await at.gateway.metric('messages_total');
    const began = Date.now();
    for (let step = 1; step <= 400; step++) {
      table.move({ offset: step * 7 });
      if (step % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await rowsAre(table, ({ offset }) => offset === 2800);
    const sent = (await at.gateway.metric('messages_total')) - before;
    expect(sent).toBeLessThan((Date.now() - began) / 50 + 5);
    expect(ids(table)).toEqual(numbers(2800, 2820));
    expect(at.client.status.phase).toBe('open');
  });

  test('to an invalid place is refused, and a valid move recovers', async () => {
    const table = at.client.subscribe('people', { limit: 5 });
    await stateIs(table, 'live');
    table.move({ limit: 100_000 });
    expect((await stateIs(table, 'refused')).code).toBe('bad_window');
    table.move({ limit: 2 });
    await stateIs(table, 'live');
    expect(ids(table)).toEqual(['0', '1']);
    await counted(at.gateway, 'subscribers', 1);
  });
});

describe('sharing', () => {
  test('equal subscriptions share one window of one connection', async () => {
    const filter = { column: 'number', op: 'less', value: 5 } as const;
    const reordered = { value: 5, op: 'less', column: 'number' } as const;
    const one = at.client.subscribe('people', { filter });
    const two = at.client.subscribe('people', {
      filter: reordered,
      columns: [],
      order: [],
      search: ' ',
    });
    const three = at.client.subscribe('people', { filter, offset: 0, limit: 300 });
    await Promise.all([one, two, three].map((table) => stateIs(table, 'live')));
    expect(two.snapshot).toBe(one.snapshot);
    expect(three.snapshot).toBe(one.snapshot);
    await counted(at.gateway, 'subscribers', 1);
    await counted(at.gateway, 'connections', 1);
    const late = at.client.subscribe('people', { filter });
    expect(late.snapshot).toBe(one.snapshot);
    expect(late.status.state).toBe('live');
    one.dispose();
    two.dispose();
    late.dispose();
    await at.gateway.run('upsert', 'people', [person(3, 'Mei')]);
    await rowsAre(three, ({ rows }) => rows[3]!['name'] === 'Mei');
    expect(one.rows[3]!['name']).toBe('Person 3');
    three.dispose();
    await counted(at.gateway, 'subscribers', 0);
  });

  test('a subscription that moves gets its own window, and joins others at their place', async () => {
    const stays = at.client.subscribe('people', { limit: 4 });
    const goes = at.client.subscribe('people', { limit: 4 });
    await stateIs(stays, 'live');
    goes.move({ offset: 4 });
    await rowsAre(goes, ({ offset }) => offset === 4);
    expect(ids(stays)).toEqual(numbers(0, 4));
    await counted(at.gateway, 'subscribers', 2);
    goes.move({ offset: 0 });
    expect(goes.snapshot).toBe(stays.snapshot);
    await counted(at.gateway, 'subscribers', 1);
    goes.change({ search: '7' });
    await rowsAre(goes, ({ total }) => total === 1);
    expect(ids(stays)).toEqual(numbers(0, 4));
    await counted(at.gateway, 'subscribers', 2);
  });

  test('a new subscription never gets rows of a place that another is leaving', async () => {
    const goes = at.client.subscribe('people', { limit: 2 });
    await stateIs(goes, 'live');
    goes.move({ offset: 6 });
    const comes = at.client.subscribe('people', { offset: 6, limit: 2 });
    const seen: (readonly string[])[] = [];
    comes.onRows((snapshot) => seen.push(ids(snapshot)));
    await stateIs(comes, 'live');
    await rowsAre(goes, ({ offset }) => offset === 6);
    expect(new Set(seen.map(String))).toEqual(new Set(['6,7']));
  });

  test('a disposed subscription is not called again', async () => {
    const table = at.client.subscribe('people');
    let calls = 0;
    table.onRows(() => calls++);
    const last: TableStatus[] = [];
    table.onStatus((status) => last.push(status));
    table.dispose();
    table.dispose();
    table.move({ offset: 3 });
    const other = at.client.subscribe('people', { limit: 7 });
    await stateIs(other, 'live');
    expect(calls).toBe(0);
    expect(last.at(-1)!.state).toBe('closed');
    expect(table.status.state).toBe('closed');
    await counted(at.gateway, 'subscribers', 1);
  });

  test('closing the client closes everything', async () => {
    const table = at.client.subscribe('people');
    await stateIs(table, 'live');
    at.client.close();
    at.client.close();
    expect(table.status.state).toBe('closed');
    expect(at.client.status.phase).toBe('closed');
    await counted(at.gateway, 'connections', 0);
    at.client.retry();
    expect(at.client.status.phase).toBe('closed');
  });
});
