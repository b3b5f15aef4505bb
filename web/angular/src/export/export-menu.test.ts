import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { entries, LEDGER } from '../../testing/ledger.js';
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
  await gateway.call('place', LEDGER, entries(400));
});
beforeEach(() => localStorage.clear());
afterEach(() => harness.end());
afterAll(() => gateway.close());

describe('export', () => {
  /** Intercepts the file that is saved. */
  function saved(): Promise<{ readonly name: string; readonly blob: Blob }> {
    return new Promise((resolve) => {
      let blob: Blob;
      vi.spyOn(URL, 'createObjectURL').mockImplementation((made) => {
        blob = made as Blob;
        return '#';
      });
      vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (
        this: HTMLAnchorElement,
      ) {
        resolve({ name: this.download, blob });
      });
    });
  }

  afterEach(() => vi.restoreAllMocks());

  test('has the present columns, filters and order, and all rows', async () => {
    const filters = [{ column: 'age', op: 'equals', value: 7 }] as const;
    await live({
      columns: ['balance', 'name'],
      look: { filters, order: [{ column: 'balance', descending: true }] },
    });
    const file = saved();
    await harness.press('Export');
    await until(() => harness.element.querySelector('.eg-menu-item'));
    await harness.press('All rows as CSV');
    const { name, blob } = await file;
    expect(name).toMatch(/^ledger-\d{4}-\d\d-\d\d-\d{6}\.csv$/);
    expect((await blob.text()).split('\r\n').slice(0, 3)).toEqual([
      '_id,balance,name',
      '307,307.50,Person 307',
      '207,207.50,Person 207',
    ]);
    await until(() => harness.text('.eg-notice').includes('Exported as CSV'));
  });

  test('can be of one page, as Arrow', async () => {
    await live({ look: { page: 50, position: 100 } });
    const file = saved();
    await harness.press('Export');
    await until(() => harness.element.querySelector('.eg-menu-item'));
    await harness.press('This page as Arrow');
    const { name, blob } = await file;
    expect(name).toMatch(/\.arrow$/);
    expect(blob.size).toBeGreaterThan(1000);
  });

  test('shows why it failed', async () => {
    await live();
    await gateway.network('refuse');
    await gateway.network('cut');
    await harness.press('Export');
    await until(() => harness.element.querySelector('.eg-menu-item'));
    await harness.press('All rows as CSV');
    await until(() => harness.text('.eg-notice').startsWith('Export failed.'));
    await gateway.network('heal');
    await harness.sees('status', 'Live');
  });
});
