import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import {
  CITY,
  entries,
  LEDGER,
  placeGeneration,
  type GenerationChange,
} from '../../testing/ledger.js';
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
});
beforeEach(async () => {
  localStorage.clear();
  await gateway.call('place', LEDGER, entries(300), 1);
});
afterEach(() => harness.end());
afterAll(() => gateway.close());

const place = (...change: GenerationChange): Promise<void> => placeGeneration(gateway, ...change);

const has = (...columns: string[]): Promise<unknown> =>
  until(
    () => harness.columns,
    (seen) => seen.join() === columns.join(),
  );

describe('columns of another generation', () => {
  test.each([true, false])('leave the arrangement of the others (stored: %s)', async (remember) => {
    await live({ remember });
    await harness.press('Columns');
    await harness.press('Pin balance left');
    await harness.press('Move name towards the right');
    await userEvent.click(harness.find('.eg-column-panel li:nth-child(5) input'));
    await userEvent.keyboard('{Escape}');
    await has('#', 'balance', 'age', 'name', 'score', 'ts');
    const edge = harness.header('score').querySelector<HTMLElement>('.ag-header-cell-resize')!;
    await userEvent.dragAndDrop(edge, harness.header('ts'));
    const widths = (): number[] =>
      ['balance', 'name', 'score', 'ts'].map((one) => harness.header(one).offsetWidth);
    const before = widths();

    await place(2, ['age'], [CITY], { city: 'Kyoto' });
    await has('#', 'balance', 'name', 'city', 'score', 'ts');
    expect(widths()).toEqual(before);
    await harness.shows('city', 'Kyoto');

    // Arranging the present columns keeps the place of a missing one.
    await harness.press('Columns');
    await harness.press('Pin city left');
    await userEvent.keyboard('{Escape}');
    await has('#', 'city', 'balance', 'name', 'score', 'ts');
    await place(3, ['balance', 'city']);
    await has('#', 'age', 'name', 'score', 'ts');
    await place(2, [], [CITY], { city: 'Osaka' });
    await has('#', 'city', 'balance', 'age', 'name', 'score', 'ts');
    expect(widths()).toEqual(before);
    await harness.shows('city', 'Osaka');
  });

  test('take the space of removed columns', async () => {
    await live();
    const edge = (): number => harness.header('ts').getBoundingClientRect().right;
    const [before, age] = [edge(), harness.header('age').offsetWidth];
    await place(2, ['name'], [CITY], { city: 'Kyoto' });
    await has('#', 'city', 'age', 'balance', 'score', 'member', 'ts');
    expect(edge()).toBe(before);
    expect(harness.header('age').offsetWidth).toBe(age);
  });

  test('grow for wider values, unless the user has set widths', async () => {
    await live();
    const width = (): number => harness.header('balance').offsetWidth;
    const before = width();
    await place(2, [], [CITY], { city: 'Kyoto', balance: '1234567890123.50' });
    await harness.shows('balance', '1,234,567,890,123.50');
    expect(width()).toBeGreaterThan(before);
    const grown = width();
    await harness.press('Columns');
    await harness.press('Pin age left');
    await userEvent.keyboard('{Escape}');
    await place(3, [], [], { balance: '123456789012345.50' });
    await harness.shows('balance', '123,456,789,012,345.50');
    expect(width()).toBe(grown);
  });

  test('can have other types', async () => {
    await live({ columns: ['age', 'score'] });
    expect(harness.cell(3, 'age').classList).toContain('eg-numeric');
    const age = { name: 'age', type: { kind: 'timestamp' } } as const;
    const columns = LEDGER.columns.map((one) => (one.name === 'age' ? age : one));
    await gateway.call('place', { ...LEDGER, columns }, entries(300), 2);
    await until(() => /1970/.test(harness.cell(3, 'age').innerText));
    expect(harness.cell(3, 'age').classList).not.toContain('eg-numeric');
    expect(harness.header('age').querySelector('.eg-header-numeric')).toBeNull();
    expect(harness.header('age').getAttribute('aria-label')).toBe('age, timestamp');
    expect(harness.header('score').querySelector('.eg-header-numeric')).not.toBeNull();
  });

  test('update open menus', async () => {
    await live();
    await harness.press('Columns');
    await place(2, ['age'], [CITY]);
    await until(() => harness.text('.eg-column-panel ul').includes('city'));
    expect(harness.text('.eg-column-panel ul')).not.toContain('age');
    await userEvent.keyboard('{Escape}');

    await userEvent.hover(harness.header('city'));
    await userEvent.click(harness.button('Filter city'));
    await until(() => harness.element.querySelector('.eg-popover form'));
    await place(3, ['age']);
    await until(() => !harness.element.querySelector('.eg-popover'));

    // Away from the headers: the one under the pointer shows its own button.
    await userEvent.hover(harness.scroller);
    await harness.press('Filter');
    await userEvent.selectOptions(harness.find('.eg-popover select'), 'balance');
    await userEvent.fill(harness.find('.eg-popover [inputmode]'), '12.50');
    await place(4, [], [CITY]);
    await has('#', 'name', 'city', 'age', 'balance', 'score', 'member', 'ts');
    expect(harness.find<HTMLInputElement>('.eg-popover [inputmode]').value).toBe('12.50');
    await userEvent.keyboard('{Escape}');
  });
});
