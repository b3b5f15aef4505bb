/** Changing the pipeline: for keys that may, with the gateway's own words for those that may not. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Client, type ControlPlace } from '../src/index.js';
import { Stage } from './stage.js';
import { rowsAre, stateIs, until } from './waiting.js';

const BURST = 10;
const WISH = { usersTopic: 'users_v2', joinType: 'asof' };

let stage: Stage;
let ops: Client;
let wall: Client;

async function keyOf(name: string, control: boolean): Promise<string> {
  const key = (await stage.call('gateway', 'new_key', [name], { control })) as string;
  const headers = { Authorization: `Bearer ${key}` };
  await until(async () => (await fetch(`${stage.address}/api/tables`, { headers })).ok);
  return key;
}

beforeAll(async () => {
  stage = await Stage.open({ pipeline: true });
  ops = connect({ url: stage.address, key: await keyOf('ops', true) });
  wall = connect({ url: stage.address, key: await keyOf('wall', false) });
});
afterAll(async () => {
  ops.close();
  wall.close();
  await stage.close();
});

/** The row of the live table that has the verdict on one message. */
function verdictOf(client: Client, { partition, offset }: ControlPlace) {
  const is = (column: string, value: number) => ({ column, op: 'equals' as const, value });
  const filter = { and: [is('_partition', partition), is('_offset', offset)] };
  return client.subscribe('control_raw', { filter, limit: 1 });
}

test('a login says whether the key may', async () => {
  expect((await ops.login()).control).toBe(true);
  expect((await wall.login()).control).toBe(false);
});

describe('one that may', () => {
  test('hears what may be asked for, and what runs', async () => {
    expect(await ops.control.choices()).toEqual({
      topic: 'evergrid-control',
      topics: ['accounts', 'accounts_v2', 'users', 'users_v2'],
      sources: [
        { name: 'users', field: 'usersTopic', topic: '' },
        { name: 'accounts', field: 'accountsTopic', topic: '' },
      ],
      joins: [{ name: 'final', field: 'joinType', type: '' }],
      types: ['asof', 'left', 'inner'],
    });
  });

  test('asks, and follows the verdict on its message', async () => {
    const place = await ops.control.ask(WISH);
    expect(place).toEqual({ partition: 0, offset: 0 });
    const [handed] = await stage.gateway<{ value: string; by: string }[]>('handed_over');
    expect(JSON.parse(atob(handed!.value))).toEqual(WISH);
    expect(handed!.by).toBe('key ops');
    const verdict = verdictOf(ops, place);
    await stateIs(verdict, 'live');
    expect(verdict.rows).toEqual([]);
    for (const word of ['preparing', 'applied']) {
      await stage.call('pipeline', 'judge', [place.offset, WISH, word], { generation: 2 });
      await rowsAre(verdict, ({ rows }) => rows[0]?.['verdict'] === word);
      expect(verdict.rows[0]!['generation']).toBe(2);
    }
    verdict.dispose();
  });

  test('is told what is wrong with a message', async () => {
    const wrong = ops.control.ask({ usersTopic: 'payments' });
    await expect(wrong).rejects.toMatchObject({
      name: 'EvergridError',
      code: 'bad_control',
      retry: false,
      message: expect.stringMatching(/^The message is no control message: field usersTopic: .*\.$/),
    });
  });

  test('is told when it is too fast', async () => {
    const many = Array.from({ length: 2 * BURST }, () => ops.control.ask({ joinType: 'outer' }));
    const codes = (await Promise.allSettled(many)).map(
      (one) => (one as PromiseRejectedResult).reason as { code: string; retry: boolean },
    );
    expect(codes).toContainEqual(
      expect.objectContaining({ code: 'too_many_messages', retry: true }),
    );
  });
});

test('one that may not is told so, and nothing is sent', async () => {
  const before = await stage.gateway<unknown[]>('handed_over');
  for (const asked of [wall.control.choices(), wall.control.ask(WISH)]) {
    await expect(asked).rejects.toMatchObject({ code: 'no_rights', retry: false });
  }
  expect(await stage.gateway('handed_over')).toEqual(before);
});

test('who gets no answer is told that nobody knows', async () => {
  const nobody = connect({ url: 'http://127.0.0.1:9', key: 'eg_any' });
  await expect(nobody.control.ask(WISH)).rejects.toMatchObject({
    code: 'unreachable',
    retry: true,
    message: expect.stringMatching(/may have been sent or not/),
  });
  await expect(nobody.control.choices()).rejects.toMatchObject({ code: 'unreachable' });
  nobody.close();
  const none = connect({ url: stage.address, key: '' });
  await expect(none.control.ask(WISH)).rejects.toMatchObject({ code: 'not_logged_in' });
  none.close();
});
