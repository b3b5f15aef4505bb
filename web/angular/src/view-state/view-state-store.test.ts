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

describe('the look input', () => {
  test('works in both directions without a loop', async () => {
    await live({ look: { order: [{ column: 'age', descending: true }], search: 'person' } });
    await harness.shows('age', '99');
    expect(harness.find<HTMLInputElement>('.eg-search input').value).toBe('person');
    await userEvent.click(harness.header('name'));
    await until(() => harness.emitted.length > 0);
    expect(harness.emitted).toEqual([{ search: 'person', order: [{ column: 'name' }] }]);
    // An app that keeps the state in its URL passes it back as another object, perhaps late.
    harness.set('look', { order: [{ descending: false, column: 'name' }], search: 'person' });
    await harness.shows('name', 'Person 0', 'Person 1');
    expect(harness.emitted).toHaveLength(1);
  });

  test('does not undo a later state when an earlier one comes back late', async () => {
    await live();
    await userEvent.click(harness.header('age'));
    await userEvent.click(harness.header('age'));
    await harness.shows('age', '99');
    harness.set('look', { order: [{ column: 'age' }] });
    harness.set('look', { order: [{ column: 'age', descending: true }] });
    await harness.shows('age', '99', '99');
    expect(harness.header('age').getAttribute('aria-sort')).toBe('descending');
  });
});
