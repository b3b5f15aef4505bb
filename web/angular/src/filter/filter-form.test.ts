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

async function openFilter(column: string): Promise<void> {
  await userEvent.hover(harness.header(column));
  await userEvent.click(harness.button(`Filter ${column}`));
  await until(() => harness.element.querySelector('.eg-popover form'));
}

async function filter(operator: string, ...texts: string[]): Promise<void> {
  await userEvent.selectOptions(harness.find('.eg-popover select'), operator);
  const fields = [...harness.element.querySelectorAll<HTMLElement>('.eg-popover [inputmode]')];
  for (const [index, text] of texts.entries()) await userEvent.fill(fields[index]!, text);
  await harness.press('Apply');
}

describe('a filter', () => {
  test('is entered in a form, shown as a chip, and removed there', async () => {
    await live();
    await openFilter('balance');
    await filter('between', '10.00', '12.50');
    await harness.sees('rows', 'rows 1–3 of 3');
    await harness.shows('balance', '10.50', '11.50', '12.50');
    expect(harness.text('.eg-chips')).toBe('balance between 10.00 and 12.50');
    expect(harness.header('balance').getAttribute('aria-label')).toContain('filtered');
    await harness.press('Remove the filter balance between 10.00 and 12.50');
    await harness.sees('rows', 'of 1,000');
  });

  test('shows an error beside the field', async () => {
    await live();
    await openFilter('age');
    await filter('equals', 'many');
    await until(() => harness.text('.eg-field-error') === 'Enter a whole number, like 42.');
    await userEvent.fill(harness.find('.eg-popover [inputmode]'), '42');
    await harness.press('Apply');
    await harness.sees('rows', 'of 10');
  });

  test('can match text and empty values, and be one of several', async () => {
    await live();
    await openFilter('name');
    await filter('contains', 'mei');
    await harness.shows('name', 'Mei Sato');
    await openFilter('name');
    await filter('is_null');
    await harness.shows('balance', '-3.00');
    await openFilter('member');
    await filter('equals');
    await harness.sees('overlay', 'No row matches');
    expect(harness.look.filters).toHaveLength(2);
    await harness.press('Clear all');
    await harness.sees('rows', 'of 1,000');
  });

  test('takes local times', async () => {
    await live();
    await openFilter('ts');
    const last = new Date(1_767_225_600_000 + 4);
    const local = new Date(last.getTime() - last.getTimezoneOffset() * 60_000);
    await filter('less_or_equal', local.toISOString().slice(0, -1));
    await harness.sees('rows', 'rows 1–5 of 5');
  });

  test('that the gateway refuses shows the error, and marks the rows as outdated', async () => {
    await live();
    harness.set('look', { filters: [{ column: 'ts', op: 'less', value: '2026-01-01T00:00:00' }] });
    await harness.sees('status', 'Not understood');
    expect(harness.banner).toContain('a time with its zone');
    expect(harness.element.querySelector('.eg-outdated')).not.toBeNull();
    await harness.press('Clear search, filters and order');
    await harness.sees('status', 'Live');
    await until(() => !harness.element.querySelector('.eg-outdated'));
  });
});
