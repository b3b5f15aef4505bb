import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, entry, LEDGER } from '../../testing/ledger.js';
import {
  TableHarness,
  TestGateway,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';

let gateway: TestGateway;
let harness: TableHarness;

const live = async (options?: HarnessOptions): Promise<TableHarness> =>
  (harness = await TableHarness.live(gateway, options));

beforeAll(async () => {
  gateway = await TestGateway.open();
  const rows = entries(1000);
  rows[7] = entry(7, { name: null, balance: '-3.00' });
  rows[8] = entry(8, { name: 'Mei Sato' });
  await gateway.call('place', LEDGER, rows);
});
afterEach(() => harness.end());
afterAll(() => gateway.close());

describe('a search', () => {
  test('finds words in any text column, and reports an empty result', async () => {
    await live();
    const field = harness.find('.eg-search input');
    await userEvent.fill(field, 'SATO mei');
    await harness.sees('rows', 'rows 1–1 of 1');
    await harness.shows('name', 'Mei Sato');
    await userEvent.fill(field, 'nobody at all');
    await harness.sees('overlay', 'No row matches');
    await harness.press('Clear search and filters');
    await harness.sees('rows', 'of 1,000');
    await until(() => harness.find<HTMLInputElement>('.eg-search input').value === '');
  });

  test('loses no letter that the user types while the text is emitted', async () => {
    await live();
    const field = harness.find<HTMLInputElement>('.eg-search input');
    const type = (text: string) => {
      field.value = text;
      field.dispatchEvent(new Event('input'));
    };
    type('mei');
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    type('mei s');
    await until(() => harness.look.search === 'mei s');
    expect(field.value).toBe('mei s');
    await harness.shows('name', 'Mei Sato');
  });
});
