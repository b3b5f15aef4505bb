import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { LEDGER, entries, entry } from './ledger.js';
import { House, Stand, until, type Wish } from './stand.js';

let house: House;
let stand: Stand;

const live = async (wishes?: Wish): Promise<Stand> => (stand = await Stand.live(house, wishes));

beforeAll(async () => {
  house = await House.open();
  const rows = entries(1000);
  rows[7] = entry(7, { name: null, balance: '-3.00' });
  rows[8] = entry(8, { name: 'Mei Sato' });
  await house.call('place', LEDGER, rows);
});
afterEach(() => stand.end());
afterAll(() => house.close());

async function openFilter(column: string): Promise<void> {
  await userEvent.hover(stand.header(column));
  await userEvent.click(stand.button(`Filter ${column}`));
  await until(() => stand.element.querySelector('.eg-popover form'));
}

async function filter(operator: string, ...texts: string[]): Promise<void> {
  await userEvent.selectOptions(stand.find('.eg-popover select'), operator);
  const fields = [...stand.element.querySelectorAll<HTMLElement>('.eg-popover [inputmode]')];
  for (const [index, text] of texts.entries()) await userEvent.fill(fields[index]!, text);
  await stand.press('Apply');
}

describe('a click on a header', () => {
  test('orders the table, up and down and not at all', async () => {
    await live();
    await userEvent.click(stand.header('balance'));
    await stand.shows('balance', '-3.00', '0.50');
    expect(stand.header('balance').getAttribute('aria-sort')).toBe('ascending');
    await userEvent.click(stand.header('balance'));
    await stand.shows('balance', '999.50', '998.50');
    expect(stand.header('balance').getAttribute('aria-sort')).toBe('descending');
    await userEvent.click(stand.header('balance'));
    await stand.shows('balance', '0.50', '1.50');
    expect(stand.look).toEqual({});
  });

  test('orders by several columns with Shift', async () => {
    await live();
    await userEvent.click(stand.header('member'));
    await userEvent.keyboard('{Shift>}');
    await userEvent.click(stand.header('age'));
    await userEvent.click(stand.header('age'));
    await userEvent.keyboard('{/Shift}');
    await stand.shows('age', '99', '99');
    expect(stand.look.order).toEqual([{ column: 'member' }, { column: 'age', descending: true }]);
    expect(stand.header('age').innerText).toContain('2');
  });

  test('can be made by keyboard', async () => {
    await live();
    await userEvent.click(stand.cell(0, 'age'));
    await userEvent.keyboard('{ArrowUp}{Enter}');
    await until(() => stand.look.order?.[0]?.column === 'age');
    await userEvent.keyboard('{Control>}{Enter}{/Control}');
    await until(() => stand.element.querySelector('.eg-popover form'));
    await userEvent.keyboard('{Escape}');
    await until(() => !stand.element.querySelector('.eg-popover'));
  });
});

describe('a filter', () => {
  test('is asked for in a form, shown as a chip, and taken away there', async () => {
    await live();
    await openFilter('balance');
    await filter('between', '10.00', '12.50');
    await stand.sees('rows', 'rows 1–3 of 3');
    await stand.shows('balance', '10.50', '11.50', '12.50');
    expect(stand.text('.eg-chips')).toBe('balance between 10.00 and 12.50');
    expect(stand.header('balance').getAttribute('aria-label')).toContain('filtered');
    await stand.press('Remove the filter balance between 10.00 and 12.50');
    await stand.sees('rows', 'of 1,000');
  });

  test('says beside the field what is wrong', async () => {
    await live();
    await openFilter('age');
    await filter('equals', 'many');
    await until(() => stand.text('.eg-mistake') === 'Write a whole number, like 42.');
    await userEvent.fill(stand.find('.eg-popover [inputmode]'), '42');
    await stand.press('Apply');
    await stand.sees('rows', 'of 10');
  });

  test('may be for texts, empty ones, several at once', async () => {
    await live();
    await openFilter('name');
    await filter('contains', 'mei');
    await stand.shows('name', 'Mei Sato');
    await openFilter('name');
    await filter('is_null');
    await stand.shows('balance', '-3.00');
    await openFilter('member');
    await filter('equals');
    await stand.sees('overlay', 'No row matches');
    expect(stand.look.filters).toHaveLength(2);
    await stand.press('Clear all');
    await stand.sees('rows', 'of 1,000');
  });

  test('is for times in the time of this place', async () => {
    await live();
    await openFilter('ts');
    const last = new Date(1_767_225_600_000 + 4);
    const local = new Date(last.getTime() - last.getTimezoneOffset() * 60_000);
    await filter('less_or_equal', local.toISOString().slice(0, -1));
    await stand.sees('rows', 'rows 1–5 of 5');
  });

  test('that the gateway refuses is said, and the rows are marked as old', async () => {
    await live();
    stand.set('look', { filters: [{ column: 'ts', op: 'less', value: '2026-01-01T00:00:00' }] });
    await stand.sees('status', 'Not understood');
    expect(stand.banner).toContain('a time with its zone');
    expect(stand.element.querySelector('.eg-old')).not.toBeNull();
    await stand.press('Clear search, filters and order');
    await stand.sees('status', 'Live');
    await until(() => !stand.element.querySelector('.eg-old'));
  });
});

test('what names a column that there is not is left out and said, and the rest is done', async () => {
  const filters = [
    { column: 'age', op: 'contains', value: 'x' },
    { column: 'age2', op: 'is_null' },
    { column: 'member', op: 'equals', value: true },
  ] as const;
  await live({ look: { order: [{ column: 'gone', descending: true }], filters } });
  await stand.sees('rows', 'of 500');
  expect(stand.banner).toBe(
    'This table has no columns age2 and gone now. The column age holds whole numbers now. ' +
      'Taken out: age contains x; age2 is empty; order by gone, descending.',
  );
  expect(stand.look).toEqual({ filters: [filters[2]] });
  await stand.press('Dismiss');
  await until(() => stand.banner === '');
});

describe('a search', () => {
  test('finds words in any text, and says when there are none', async () => {
    await live();
    const field = stand.find('.eg-search input');
    await userEvent.fill(field, 'SATO mei');
    await stand.sees('rows', 'rows 1–1 of 1');
    await stand.shows('name', 'Mei Sato');
    await userEvent.fill(field, 'nobody at all');
    await stand.sees('overlay', 'No row matches');
    await stand.press('Clear search and filters');
    await stand.sees('rows', 'of 1,000');
    await until(() => stand.find<HTMLInputElement>('.eg-search input').value === '');
  });

  test('loses no letter that comes just when the ones before are told', async () => {
    await live();
    const field = stand.find<HTMLInputElement>('.eg-search input');
    const type = (text: string) => {
      field.value = text;
      field.dispatchEvent(new Event('input'));
    };
    type('mei');
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
    type('mei s');
    await until(() => stand.look.search === 'mei s');
    expect(field.value).toBe('mei s');
    await stand.shows('name', 'Mei Sato');
  });
});

describe('the look', () => {
  test('comes from outside and goes there, and does not run in circles', async () => {
    await live({ look: { order: [{ column: 'age', descending: true }], search: 'person' } });
    await stand.shows('age', '99');
    expect(stand.find<HTMLInputElement>('.eg-search input').value).toBe('person');
    await userEvent.click(stand.header('name'));
    await until(() => stand.looks.length > 0);
    expect(stand.looks).toEqual([{ search: 'person', order: [{ column: 'name' }] }]);
    // An app that keeps it in its address gives it back as another object, perhaps late.
    stand.set('look', { order: [{ descending: false, column: 'name' }], search: 'person' });
    await stand.shows('name', 'Person 0', 'Person 1');
    expect(stand.looks).toHaveLength(1);
  });

  test('that comes back late does not undo a later one', async () => {
    await live();
    await userEvent.click(stand.header('age'));
    await userEvent.click(stand.header('age'));
    await stand.shows('age', '99');
    stand.set('look', { order: [{ column: 'age' }] });
    stand.set('look', { order: [{ column: 'age', descending: true }] });
    await stand.shows('age', '99', '99');
    expect(stand.header('age').getAttribute('aria-sort')).toBe('descending');
  });
});
