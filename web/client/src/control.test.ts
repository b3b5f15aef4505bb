/** Control messages: with the control right, and the gateway's errors without it. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Client, type ControlPlace } from './index.js';
import { GatewayProcess } from '../testing/gateway-process.js';
import { rowsAre, stateIs, until } from '../testing/wait.js';

const BURST = 10;
const MESSAGE = { usersTopic: 'users_v2', joinType: 'asof' };

let gateway: GatewayProcess;
let ops: Client;
let wall: Client;

async function keyOf(name: string, control: boolean): Promise<string> {
  const key = (await gateway.call('gateway', 'new_key', [name], { control })) as string;
  const headers = { Authorization: `Bearer ${key}` };
  await until(async () => (await fetch(`${gateway.address}/api/tables`, { headers })).ok);
  return key;
}

beforeAll(async () => {
  gateway = await GatewayProcess.start({ pipeline: true });
  ops = connect({ url: gateway.address, key: await keyOf('ops', true) });
  wall = connect({ url: gateway.address, key: await keyOf('wall', false) });
});
afterAll(async () => {
  ops.close();
  wall.close();
  await gateway.stop();
});

/** A subscription to the row with a message's verdict. */
function verdictOf(client: Client, { partition, offset }: ControlPlace) {
  const is = (column: string, value: number) => ({ column, op: 'equals' as const, value });
  const filter = { and: [is('_partition', partition), is('_offset', offset)] };
  return client.subscribe('control_raw', { filter, limit: 1 });
}

test('a login says whether the key has the control right', async () => {
  expect((await ops.login()).control).toBe(true);
  expect((await wall.login()).control).toBe(false);
});

describe('a key with the control right', () => {
  test('gets the choices and what runs', async () => {
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

  test('sends a message and receives its verdict', async () => {
    const place = await ops.control.ask(MESSAGE);
    expect(place).toEqual({ partition: 0, offset: 0 });
    const [handed] = await gateway.run<{ value: string; by: string }[]>('handed_over');
    expect(JSON.parse(atob(handed!.value))).toEqual(MESSAGE);
    expect(handed!.by).toBe('key ops');
    const verdict = verdictOf(ops, place);
    await stateIs(verdict, 'live');
    expect(verdict.rows).toEqual([]);
    for (const word of ['preparing', 'applied']) {
      await gateway.call('pipeline', 'judge', [place.offset, MESSAGE, word], { generation: 2 });
      await rowsAre(verdict, ({ rows }) => rows[0]?.['verdict'] === word);
      expect(verdict.rows[0]!['generation']).toBe(2);
    }
    verdict.dispose();
  });

  test('gets the reason why a message is invalid', async () => {
    const wrong = ops.control.ask({ usersTopic: 'payments' });
    await expect(wrong).rejects.toMatchObject({
      name: 'EvergridError',
      code: 'bad_control',
      retry: false,
      message: expect.stringMatching(/^Bad control message: field usersTopic: .*\.$/),
    });
  });

  test('is rate limited', async () => {
    const many = Array.from({ length: 2 * BURST }, () => ops.control.ask({ joinType: 'outer' }));
    const codes = (await Promise.allSettled(many)).map(
      (one) => (one as PromiseRejectedResult).reason as { code: string; retry: boolean },
    );
    expect(codes).toContainEqual(
      expect.objectContaining({ code: 'too_many_messages', retry: true }),
    );
  });
});

test('a key without the control right is refused, and nothing is sent', async () => {
  const before = await gateway.run<unknown[]>('handed_over');
  for (const asked of [wall.control.choices(), wall.control.ask(MESSAGE)]) {
    await expect(asked).rejects.toMatchObject({ code: 'no_rights', retry: false });
  }
  expect(await gateway.run('handed_over')).toEqual(before);
});

test('without an answer the error says that the outcome is unknown', async () => {
  const unreachable = connect({ url: 'http://127.0.0.1:9', key: 'eg_any' });
  await expect(unreachable.control.ask(MESSAGE)).rejects.toMatchObject({
    code: 'unreachable',
    retry: true,
    message: expect.stringMatching(/may have been sent or not/),
  });
  await expect(unreachable.control.choices()).rejects.toMatchObject({ code: 'unreachable' });
  unreachable.close();
  const none = connect({ url: gateway.address, key: '' });
  await expect(none.control.ask(MESSAGE)).rejects.toMatchObject({ code: 'not_logged_in' });
  none.close();
});
