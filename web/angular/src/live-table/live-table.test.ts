import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { FIRST_TIME, LEDGER, entries, entry } from '../../testing/ledger.js';
import {
  TestGateway,
  setReducedMotion,
  TableHarness,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';

let gateway: TestGateway;
let harness: TableHarness;

const live = async (options?: HarnessOptions): Promise<TableHarness> =>
  (harness = await TableHarness.live(gateway, options));

beforeAll(async () => {
  gateway = await TestGateway.open();
});
beforeEach(async () => {
  localStorage.clear();
  await gateway.call('place', LEDGER, entries(1000));
});
afterEach(() => harness.end());
afterAll(() => gateway.close());

describe('a table by its name', () => {
  test('shows formatted rows, without trace columns', async () => {
    await gateway.call('upsert', 'ledger', [entry(1, { name: null, balance: '-1234567.05' })]);
    await live();
    await harness.shows('balance', '0.50', '-1,234,567.05');
    expect(harness.columns).toEqual(['#', 'name', 'age', 'balance', 'score', 'member', 'ts']);
    expect(harness.cell(1, 'name').innerText).toBe('–');
    expect(harness.cell(1, 'member').innerText).toBe('no');
    await harness.sees('rows', /^rows 1–\d\d of 1,000$/);
    expect(harness.text('.eg-heading')).toBe('ledger');
  });

  test('shows exact values as tooltips', async () => {
    await gateway.call('upsert', 'ledger', [entry(0, { ts: FIRST_TIME - 1, score: 0.1 + 0.2 })]);
    await live();
    await userEvent.hover(harness.cell(0, 'ts'));
    expect(harness.cell(0, 'ts').title).toBe('2025-12-31T23:59:59.999999Z');
    await userEvent.hover(harness.cell(0, 'score'));
    expect(harness.cell(0, 'score').title).toBe('0.30000000000000004');
  });

  test('updates its rows, and flashes changed cells', async () => {
    await live();
    await gateway.call('upsert', 'ledger', [entry(2, { age: 77 })]);
    await until(() => harness.cell(2, 'age').innerText === '77');
    const flashing = [...harness.element.querySelectorAll('.eg-flash')];
    expect(flashing).toEqual([harness.cell(2, 'age')]);
    await until(() => !harness.element.querySelector('.eg-flash'));
  });

  test('does not flash when rows only moved', async () => {
    await live({ look: { order: [{ column: 'age', descending: true }] } });
    await gateway.call('upsert', 'ledger', [entry(5000, { age: 500 })]);
    await harness.shows('age', '500', '99', '99');
    expect(harness.element.querySelector('.eg-flash')).toBeNull();
  });

  test('does not flash with reduced motion', async () => {
    await setReducedMotion('reduce');
    await live();
    await gateway.call('upsert', 'ledger', [entry(2, { age: 77 })]);
    await until(() => harness.cell(2, 'age').innerText === '77');
    expect(harness.element.querySelector('.eg-flash')).toBeNull();
    await setReducedMotion('no-preference');
  });

  test('opens a row by its number, a double click or Enter', async () => {
    await live();
    await userEvent.click(harness.cell(3, '#'));
    await userEvent.dblClick(harness.cell(4, 'name'));
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await until(() => harness.opened.length === 3);
    expect(harness.opened.map(({ row }) => row._id)).toEqual(['3', '4', '5']);
    expect(harness.opened[0]?.columns.map(({ name }) => name)).toContain('_offset');
    expect(harness.opened[0]?.table).toBe('ledger');
  });

  test('can be replaced by another one', async () => {
    await gateway.call('place', { ...LEDGER, name: 'other' }, [entry(0, { name: 'Mei' })]);
    await live();
    harness.set('table', 'other');
    await harness.sees('rows', 'rows 1–1 of 1');
    await harness.shows('name', 'Mei');
  });
});

describe('columns', () => {
  test('change with the table, while the others stay as they were', async () => {
    await live();
    const width = harness.header('name').offsetWidth;
    const kept = LEDGER.columns.filter(({ name }) => name !== 'score');
    const columns = [...kept, { name: 'city', type: { kind: 'text' } }] as const;
    const rows = entries(3).map(({ score: _, ...rest }) => ({ ...rest, city: 'Kyoto' }));
    await gateway.call('place', { ...LEDGER, columns }, rows, 2);
    await until(() => harness.columns.includes('city') && !harness.columns.includes('score'));
    await harness.shows('city', 'Kyoto', 'Kyoto', 'Kyoto');
    expect(harness.header('name').offsetWidth).toBe(width);
  });

  test('are at first those of the input', async () => {
    await live({ columns: ['ts', 'name', '_offset'] });
    expect(harness.columns).toEqual(['#', 'ts', 'name', '_offset']);
  });
});

describe('a small table on a dashboard', () => {
  test('has one row of controls and shows the number of rows', async () => {
    harness = TableHarness.build(gateway, { compact: true, heading: 'Ledger' });
    await harness.sees('status', 'Live');
    await until(() => harness.text('[data-eg="total"]') === '1,000 rows');
    expect(harness.element.querySelector('.eg-pager')).toBeNull();
    expect(harness.find('.eg-toolbar').offsetHeight).toBeLessThan(44);
    expect(harness.text('.eg-heading')).toBe('Ledger');
  });
});
