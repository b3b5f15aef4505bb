import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { LEDGER, entries, entry } from '../../testing/ledger.js';
import { TestGateway, TableHarness, until } from '../../testing/table-harness.js';

let gateway: TestGateway;
let harness: TableHarness;

const isOutdated = (): boolean => harness.element.querySelector('.eg-outdated') !== null;

/** A gateway reads new keys within a second. */
async function isKnown(key: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${key}` };
  return (await fetch(`${gateway.info.address}/api/tables`, { headers })).ok;
}

beforeAll(async () => {
  gateway = await TestGateway.open();
});
beforeEach(() => gateway.call('place', LEDGER, entries(100)));
afterEach(() => harness.end());
afterAll(() => gateway.close());

test('a table that does not exist yet becomes live when it does', async () => {
  harness = TableHarness.build(gateway, { table: 'later' });
  await harness.sees('status', 'No such table');
  expect(harness.overlay).toContain('later');
  await gateway.call('place', { ...LEDGER, name: 'later' }, entries(3));
  await harness.sees('status', 'Live');
  await harness.sees('rows', 'rows 1–3 of 3');
});

test('an empty table shows a message, and then its first rows', async () => {
  await gateway.call('place', { ...LEDGER, name: 'empty' }, []);
  harness = TableHarness.build(gateway, { table: 'empty' });
  await harness.sees('overlay', 'No rows yet');
  await gateway.call('upsert', 'empty', [entry(1)]);
  await harness.shows('name', 'Person 1');
  await until(() => harness.overlay === '');
});

test('a key without rights is refused', async () => {
  const key = await gateway.call<string>('new_key', 'stranger', ['other_*']);
  await until(() => isKnown(key));
  harness = TableHarness.build(gateway, { key });
  await harness.sees('status', 'No rights');
  expect(harness.overlay).not.toBe('');
});

test('a wrong key is refused', async () => {
  harness = TableHarness.build(gateway, { key: 'eg_wrong' });
  await harness.sees('status', 'Refused');
  expect(harness.overlay).not.toBe('');
});

test('stale rows stay, marked as outdated, with the time since when', async () => {
  harness = await TableHarness.live(gateway);
  const since = Date.now() * 1000 - 60_000_000;
  await gateway.call('say', 'ledger', 'stale', 'Kafka cannot be reached.', since);
  await harness.sees('status', /^Stale since \d\d:\d\d:\d\d$/);
  expect(harness.banner).toBe('Kafka cannot be reached.');
  expect(isOutdated()).toBe(true);
  expect(harness.cell(0, 'name').innerText).toBe('Person 0');
  await gateway.call('say', 'ledger', 'live');
  await harness.sees('status', 'Live');
  await until(() => !isOutdated());
});

test('a warning about missing rows is shown above live rows', async () => {
  harness = await TableHarness.live(gateway);
  const message = 'Rows may be missing or show an older match for 1 key (u1): history limit.';
  await gateway.call('say', 'ledger', 'live', message);
  await harness.sees('status', 'Live, with gaps');
  expect(harness.banner).toBe(message);
  expect(isOutdated()).toBe(false);
  expect(harness.cell(0, 'name').innerText).toBe('Person 0');
  await gateway.call('say', 'ledger', 'live');
  await harness.sees('status', 'Live');
  await until(() => harness.banner === '');
});

test('rows stay, marked as outdated, while the connection is lost', async () => {
  harness = await TableHarness.live(gateway);
  await gateway.network('refuse');
  await gateway.network('cut');
  await harness.sees('status', 'Reconnecting');
  expect(harness.banner).not.toBe('');
  expect(isOutdated()).toBe(true);
  await gateway.call('upsert', 'ledger', [entry(0, { name: 'Meanwhile' })]);
  await gateway.network('heal');
  await harness.sees('status', 'Live');
  await harness.shows('name', 'Meanwhile');
  await until(() => !isOutdated());
});

test('a table that is removed from the page closes its window', async () => {
  harness = await TableHarness.live(gateway);
  const other = harness.client.subscribe('ledger', { limit: 1 });
  harness.component.destroy();
  await until(() => other.status.state === 'live');
  const { views } = (await harness.client.tables()).find(({ name }) => name === 'ledger')!;
  expect(views).toBe(1);
  expect(document.querySelector('.ag-root')).toBeNull();
});
