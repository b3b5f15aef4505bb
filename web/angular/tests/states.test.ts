import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LEDGER, entries, entry } from './ledger.js';
import { House, Stand, until } from './stand.js';

let house: House;
let stand: Stand;

const isOld = (): boolean => stand.element.querySelector('.eg-old') !== null;

/** A gateway learns of new keys within a second. */
async function isKnown(key: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${house.info.address}/api/tables`, { headers })).ok;
}

beforeAll(async () => {
  house = await House.open();
});
beforeEach(() => house.call('place', LEDGER, entries(100)));
afterEach(() => stand.end());
afterAll(() => house.close());

test('a table that there is not is waited for', async () => {
  stand = Stand.build(house, { table: 'later' });
  await stand.sees('status', 'No such table');
  expect(stand.overlay).toContain('later');
  await house.call('place', { ...LEDGER, name: 'later' }, entries(3));
  await stand.sees('status', 'Live');
  await stand.sees('rows', 'rows 1–3 of 3');
});

test('an empty table says that rows will come, and then they do', async () => {
  await house.call('place', { ...LEDGER, name: 'empty' }, []);
  stand = Stand.build(house, { table: 'empty' });
  await stand.sees('overlay', 'No rows yet');
  await house.call('upsert', 'empty', [entry(1)]);
  await stand.shows('name', 'Person 1');
  await until(() => stand.overlay === '');
});

test('a key without rights is told so', async () => {
  const key = await house.call<string>('new_key', 'stranger', ['other_*']);
  await until(() => isKnown(key));
  stand = Stand.build(house, { key });
  await stand.sees('status', 'No rights');
  expect(stand.overlay).not.toBe('');
});

test('a wrong key is told so', async () => {
  stand = Stand.build(house, { key: 'eg_wrong' });
  await stand.sees('status', 'Refused');
  expect(stand.overlay).not.toBe('');
});

test('stale rows stay, marked, with since when', async () => {
  stand = await Stand.live(house);
  const since = Date.now() * 1000 - 60_000_000;
  await house.call('say', 'ledger', 'stale', 'Kafka cannot be reached.', since);
  await stand.sees('status', /^Stale since \d\d:\d\d:\d\d$/);
  expect(stand.banner).toBe('Kafka cannot be reached.');
  expect(isOld()).toBe(true);
  expect(stand.cell(0, 'name').innerText).toBe('Person 0');
  await house.call('say', 'ledger', 'live');
  await stand.sees('status', 'Live');
  await until(() => !isOld());
});

test('what live rows may lack is said above them, and they are not pale', async () => {
  stand = await Stand.live(house);
  const message = 'Rows may be missing or show an older match for 1 key (u1): history limit.';
  await house.call('say', 'ledger', 'live', message);
  await stand.sees('status', 'Live, with gaps');
  expect(stand.banner).toBe(message);
  expect(isOld()).toBe(false);
  expect(stand.cell(0, 'name').innerText).toBe('Person 0');
  await house.call('say', 'ledger', 'live');
  await stand.sees('status', 'Live');
  await until(() => stand.banner === '');
});

test('rows of a lost connection stay, marked, until it is back', async () => {
  stand = await Stand.live(house);
  await house.network('refuse');
  await house.network('cut');
  await stand.sees('status', 'Reconnecting');
  expect(stand.banner).not.toBe('');
  expect(isOld()).toBe(true);
  await house.call('upsert', 'ledger', [entry(0, { name: 'Meanwhile' })]);
  await house.network('heal');
  await stand.sees('status', 'Live');
  await stand.shows('name', 'Meanwhile');
  await until(() => !isOld());
});

test('a table that is taken off the page asks for nothing more', async () => {
  stand = await Stand.live(house);
  const other = stand.client.subscribe('ledger', { limit: 1 });
  stand.component.destroy();
  await until(() => other.status.state === 'live');
  const { views } = (await stand.client.tables()).find(({ name }) => name === 'ledger')!;
  expect(views).toBe(1);
  expect(document.querySelector('.ag-root')).toBeNull();
});
