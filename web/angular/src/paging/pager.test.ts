import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, entry, LEDGER } from '../../testing/ledger.js';
import {
  TableHarness,
  TestGateway,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';

const COUNT = 5000;

let gateway: TestGateway;
let harness: TableHarness;

const live = async (options?: HarnessOptions): Promise<TableHarness> =>
  (harness = await TableHarness.live(gateway, options));

beforeAll(async () => {
  gateway = await TestGateway.open();
  await gateway.call('place', LEDGER, entries(COUNT));
});
afterEach(() => harness.end());
afterAll(() => gateway.close());

async function goTo(row: number): Promise<void> {
  await userEvent.fill(harness.find('.eg-go-to input'), String(row));
  await userEvent.keyboard('{Enter}');
}

describe('pages', () => {
  test('have 300 rows, and buttons to the other pages', async () => {
    await live();
    await harness.press('Pages');
    await harness.sees('rows', 'rows 1–300 of 5,000');
    await harness.press('Next page');
    await harness.sees('rows', 'rows 301–600 of 5,000');
    await harness.shows('name', 'Person 300', 'Person 301');
    await harness.press('Last page');
    await harness.sees('rows', 'rows 4,801–5,000 of 5,000');
    expect(harness.button('Next page').disabled).toBe(true);
    await harness.press('Previous page');
    await harness.sees('rows', 'rows 4,501–4,800 of 5,000');
    await harness.press('First page');
    await harness.sees('rows', 'rows 1–300 of 5,000');
    expect(harness.look).toEqual({ page: 300 });
  });

  test('can have another size, and switch back to scrolling', async () => {
    await live({ look: { page: 300, position: 600 } });
    await harness.sees('rows', 'rows 601–900 of 5,000');
    await userEvent.selectOptions(harness.find('.eg-pager select'), '50');
    await harness.sees('rows', 'rows 601–650 of 5,000');
    await harness.press('Scroll');
    await harness.sees('rows', /^rows 601–6\d\d of 5,000/);
    await until(() => harness.cell(600, 'name').innerText === 'Person 600');
  });

  test('are found by a row number', async () => {
    await live({ look: { page: 100 } });
    await goTo(1250);
    await harness.sees('rows', 'rows 1,201–1,300 of 5,000');
    await until(() => harness.cell(49, 'name').innerText === 'Person 1249');
    expect(harness.look.position).toBe(1200);
  });

  test('beyond the end are the last one', async () => {
    await live({ look: { page: 300, position: 90_000 } });
    await harness.sees('rows', 'rows 4,801–5,000 of 5,000');
  });

  test('can be refreshed', async () => {
    await live({ look: { page: 300, position: 300 } });
    await harness.sees('rows', 'rows 301–600 of 5,000');
    await harness.press('Refresh');
    await harness.shows('name', 'Person 300');
    await harness.sees('status', 'Live');
    await gateway.call('upsert', 'ledger', [entry(300, { name: 'Mei' })]);
    await harness.shows('name', 'Mei');
    await gateway.call('upsert', 'ledger', [entry(300)]);
  });
});
