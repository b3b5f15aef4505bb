import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { FIRST_TIME, LEDGER, entries, entry } from './ledger.js';
import { House, prefer, Stand, until, type Wish } from './stand.js';

let house: House;
let stand: Stand;

const live = async (wishes?: Wish): Promise<Stand> => (stand = await Stand.live(house, wishes));

beforeAll(async () => {
  house = await House.open();
});
beforeEach(async () => {
  localStorage.clear();
  await house.call('place', LEDGER, entries(1000));
});
afterEach(() => stand.end());
afterAll(() => house.close());

describe('a table by its name', () => {
  test('shows its rows for people, with traces put aside', async () => {
    await house.call('upsert', 'ledger', [entry(1, { name: null, balance: '-1234567.05' })]);
    await live();
    await stand.shows('balance', '0.50', '-1,234,567.05');
    expect(stand.columns).toEqual(['#', 'name', 'age', 'balance', 'score', 'member', 'ts']);
    expect(stand.cell(1, 'name').innerText).toBe('–');
    expect(stand.cell(1, 'member').innerText).toBe('no');
    await stand.sees('rows', /^rows 1–\d\d of 1,000$/);
    expect(stand.text('.eg-heading')).toBe('ledger');
  });

  test('says exact values when the pointer rests', async () => {
    await house.call('upsert', 'ledger', [entry(0, { ts: FIRST_TIME - 1, score: 0.1 + 0.2 })]);
    await live();
    await userEvent.hover(stand.cell(0, 'ts'));
    expect(stand.cell(0, 'ts').title).toBe('2025-12-31T23:59:59.999999Z');
    await userEvent.hover(stand.cell(0, 'score'));
    expect(stand.cell(0, 'score').title).toBe('0.30000000000000004');
  });

  test('follows its rows, and lights up what changed', async () => {
    await live();
    await house.call('upsert', 'ledger', [entry(2, { age: 77 })]);
    await until(() => stand.cell(2, 'age').innerText === '77');
    const lit = [...stand.element.querySelectorAll('.eg-flash')];
    expect(lit).toEqual([stand.cell(2, 'age')]);
    await until(() => !stand.element.querySelector('.eg-flash'));
  });

  test('lights nothing up when rows only moved', async () => {
    await live({ look: { order: [{ column: 'age', descending: true }] } });
    await house.call('upsert', 'ledger', [entry(5000, { age: 500 })]);
    await stand.shows('age', '500', '99', '99');
    expect(stand.element.querySelector('.eg-flash')).toBeNull();
  });

  test('lights nothing up for those who want no motion', async () => {
    await prefer('reduce');
    await live();
    await house.call('upsert', 'ledger', [entry(2, { age: 77 })]);
    await until(() => stand.cell(2, 'age').innerText === '77');
    expect(stand.element.querySelector('.eg-flash')).toBeNull();
    await prefer('no-preference');
  });

  test('opens a row by its number, a double click or Enter', async () => {
    await live();
    await userEvent.click(stand.cell(3, '#'));
    await userEvent.dblClick(stand.cell(4, 'name'));
    await userEvent.keyboard('{ArrowDown}{Enter}');
    await until(() => stand.opened.length === 3);
    expect(stand.opened.map(({ row }) => row._id)).toEqual(['3', '4', '5']);
    expect(stand.opened[0]?.columns.map(({ name }) => name)).toContain('_offset');
    expect(stand.opened[0]?.table).toBe('ledger');
  });

  test('can be another one', async () => {
    await house.call('place', { ...LEDGER, name: 'other' }, [entry(0, { name: 'Mei' })]);
    await live();
    stand.set('table', 'other');
    await stand.sees('rows', 'rows 1–1 of 1');
    await stand.shows('name', 'Mei');
  });
});

describe('columns that come and go', () => {
  test('do so in the table, while the others stay as they were', async () => {
    await live();
    const width = stand.header('name').offsetWidth;
    const kept = LEDGER.columns.filter(({ name }) => name !== 'score');
    const columns = [...kept, { name: 'city', type: { kind: 'text' } }] as const;
    const rows = entries(3).map(({ score: _, ...rest }) => ({ ...rest, city: 'Kyoto' }));
    await house.call('place', { ...LEDGER, columns }, rows, 2);
    await until(() => stand.columns.includes('city') && !stand.columns.includes('score'));
    await stand.shows('city', 'Kyoto', 'Kyoto', 'Kyoto');
    expect(stand.header('name').offsetWidth).toBe(width);
  });

  test('begin with those that are asked for', async () => {
    await live({ columns: ['ts', 'name', '_offset'] });
    expect(stand.columns).toEqual(['#', 'ts', 'name', '_offset']);
  });
});

describe('a small table on a dashboard', () => {
  test('has one row of controls and says how many rows there are', async () => {
    stand = Stand.build(house, { compact: true, heading: 'Ledger' });
    await stand.sees('status', 'Live');
    await until(() => stand.text('[data-eg="total"]') === '1,000 rows');
    expect(stand.element.querySelector('.eg-pager')).toBeNull();
    expect(stand.find('.eg-toolbar').offsetHeight).toBeLessThan(44);
    expect(stand.text('.eg-heading')).toBe('Ledger');
  });
});
