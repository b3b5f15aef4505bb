/** Tables as observables. */

import { filter, firstValueFrom, take, toArray } from 'rxjs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Client } from './index.js';
import { streamTable } from './rxjs.js';
import { numbers, PEOPLE, people, person } from '../testing/people.js';
import { GatewayProcess } from '../testing/gateway-process.js';
import { until } from '../testing/wait.js';

let gateway: GatewayProcess;
let client: Client;

beforeAll(async () => {
  gateway = await GatewayProcess.start();
  await gateway.run('place', PEOPLE, people(5));
  client = connect({ url: gateway.address, key: gateway.secret });
});
afterAll(async () => {
  client.close();
  await gateway.stop();
});

test('every observer receives the rows at once and after each change', async () => {
  const people = streamTable(client, 'people');
  const two = firstValueFrom(people.rows$.pipe(take(2), toArray()));
  const rows = await firstValueFrom(people.rows$);
  expect(rows.map((row) => row._id)).toEqual(numbers(0, 5));
  await gateway.run('upsert', 'people', [person(0, 'Mei')]);
  const [first, second] = await two;
  expect(first).toBe(rows);
  expect(second![0]!['name']).toBe('Mei');
  expect(second![1]).toBe(first![1]);
  people.dispose();
});

test('dispose completes everything and closes the window', async () => {
  const people = streamTable(client, 'people', { limit: 2 });
  await firstValueFrom(people.status$.pipe(filter(({ state }) => state === 'live')));
  const ended: string[] = [];
  people.rows$.subscribe({ complete: () => ended.push('rows') });
  people.snapshots$.subscribe({ complete: () => ended.push('snapshots') });
  people.status$.subscribe({ complete: () => ended.push('status') });
  const left = people.rows$.subscribe({ complete: () => ended.push('not this') });
  left.unsubscribe();
  people.dispose();
  expect(ended.sort()).toEqual(['rows', 'snapshots', 'status']);
  people.status$.subscribe({ complete: () => ended.push('late') });
  expect(ended).toContain('late');
  await until(
    () => gateway.metric('subscribers'),
    (count) => count === 0,
  );
});

test('move and change work', async () => {
  const people = streamTable(client, 'people', { limit: 1 });
  people.move({ offset: 3 });
  const moved = await firstValueFrom(people.snapshots$.pipe(filter(({ offset }) => offset === 3)));
  expect(moved.rows[0]!._id).toBe('3');
  people.change({ search: 'Person 4' }, { offset: 0 });
  const found = await firstValueFrom(people.snapshots$.pipe(filter(({ total }) => total === 1)));
  expect(found.rows[0]!._id).toBe('4');
  people.dispose();
});

test('a refusal is a status, not an error', async () => {
  const people = streamTable(client, 'people', { columns: ['nothing'] });
  const status = await firstValueFrom(
    people.status$.pipe(filter(({ state }) => state === 'refused')),
  );
  expect(status.code).toBe('unknown_column');
  people.dispose();
});
