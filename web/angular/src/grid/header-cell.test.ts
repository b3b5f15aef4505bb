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

describe('a click on a header', () => {
  test('orders ascending, descending and not at all', async () => {
    await live();
    await userEvent.click(harness.header('balance'));
    await harness.shows('balance', '-3.00', '0.50');
    expect(harness.header('balance').getAttribute('aria-sort')).toBe('ascending');
    await userEvent.click(harness.header('balance'));
    await harness.shows('balance', '999.50', '998.50');
    expect(harness.header('balance').getAttribute('aria-sort')).toBe('descending');
    await userEvent.click(harness.header('balance'));
    await harness.shows('balance', '0.50', '1.50');
    expect(harness.look).toEqual({});
  });

  test('orders by several columns with Shift', async () => {
    await live();
    await userEvent.click(harness.header('member'));
    await userEvent.keyboard('{Shift>}');
    await userEvent.click(harness.header('age'));
    await userEvent.click(harness.header('age'));
    await userEvent.keyboard('{/Shift}');
    await harness.shows('age', '99', '99');
    expect(harness.look.order).toEqual([{ column: 'member' }, { column: 'age', descending: true }]);
    expect(harness.header('age').innerText).toContain('2');
  });

  test('works by keyboard', async () => {
    await live();
    await userEvent.click(harness.cell(0, 'age'));
    await userEvent.keyboard('{ArrowUp}{Enter}');
    await until(() => harness.look.order?.[0]?.column === 'age');
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
    await until(() => harness.element.querySelector('.eg-popover form'));
    await userEvent.keyboard('{Escape}');
    await until(() => !harness.element.querySelector('.eg-popover'));
  });
});
