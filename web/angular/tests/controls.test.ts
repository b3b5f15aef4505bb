import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { userEvent } from 'vitest/browser';
import { LEDGER, entries } from './ledger.js';
import { House, Stand, until, type Wish } from './stand.js';

let house: House;
let stand: Stand;

const live = async (wishes?: Wish): Promise<Stand> => (stand = await Stand.live(house, wishes));

beforeAll(async () => {
  house = await House.open();
  await house.call('place', LEDGER, entries(400));
});
beforeEach(() => localStorage.clear());
afterEach(() => stand.end());
afterAll(() => house.close());

async function openColumns(): Promise<void> {
  await stand.press('Columns');
  await until(() => stand.element.querySelector('.eg-columns'));
}

function box(column: string): HTMLInputElement {
  const labels = [...stand.element.querySelectorAll<HTMLElement>('.eg-columns label')];
  const label = labels.find((one) => one.innerText.trim() === column);
  return label!.querySelector('input')!;
}

describe('columns', () => {
  test('are chosen, pinned and moved, and remembered until somebody resets them', async () => {
    await live();
    const first = stand.columns;
    await openColumns();
    await userEvent.click(box('score'));
    await userEvent.click(box('_offset'));
    await stand.press('Pin balance left');
    await stand.press('Move name towards the right');
    const arranged = ['#', 'balance', 'age', 'name', 'member', 'ts', '_offset'];
    await until(() => stand.columns.join() === arranged.join());
    stand.end();
    await live();
    await until(() => stand.columns.join() === arranged.join());
    await openColumns();
    await stand.press('Reset columns');
    await until(() => stand.columns.join() === first.join());
    stand.end();
    await live();
    await until(() => stand.columns.join() === first.join());
  });

  test('keep the width that somebody gave them', async () => {
    await live();
    const edge = stand.header('name').querySelector<HTMLElement>('.ag-header-cell-resize')!;
    const before = stand.header('name').offsetWidth;
    await userEvent.dragAndDrop(edge, stand.header('score'));
    await until(() => stand.header('name').offsetWidth !== before);
    const width = stand.header('name').offsetWidth;
    stand.end();
    await live();
    expect(stand.header('name').offsetWidth).toBe(width);
  });

  test('are as at first where nothing may be remembered', async () => {
    await live({ remember: false });
    await openColumns();
    await userEvent.click(box('score'));
    await until(() => !stand.columns.includes('score'));
    expect(localStorage.length).toBe(0);
  });
});

describe('copying', () => {
  const copied = (): Promise<string> => navigator.clipboard.readText();

  test('takes the cell that has the focus, exactly', async () => {
    await live();
    await userEvent.click(stand.cell(2, 'ts'));
    await userEvent.keyboard('{Control>}c{/Control}');
    await until(() => stand.text('.eg-notice') === 'Copied.');
    expect(await copied()).toBe('2026-01-01T00:00:00.002000Z');
  });

  test('takes a block of cells as a spreadsheet wants it', async () => {
    await live();
    await userEvent.click(stand.cell(2, 'name'));
    await userEvent.keyboard('{Shift>}{ArrowDown}{ArrowRight}{ArrowRight}{/Shift}');
    await userEvent.keyboard('{Control>}c{/Control}');
    await until(() => stand.text('.eg-notice') === 'Copied 2 rows.');
    expect(await copied()).toBe('Person 2\t2\t2.50\nPerson 3\t3\t3.50');
    expect(stand.element.querySelectorAll('.eg-picked')).toHaveLength(6);
    await userEvent.keyboard('{Escape}');
    await until(() => !stand.element.querySelector('.eg-picked'));
  });
});

describe('export', () => {
  /** What is saved, without a folder to save it in. */
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

  test('has the columns, filters and order that are shown, and all rows', async () => {
    const filters = [{ column: 'age', op: 'equals', value: 7 }] as const;
    await live({
      columns: ['balance', 'name'],
      look: { filters, order: [{ column: 'balance', descending: true }] },
    });
    const file = saved();
    await stand.press('Export');
    await until(() => stand.element.querySelector('.eg-item'));
    await stand.press('All rows as CSV');
    const { name, blob } = await file;
    expect(name).toMatch(/^ledger-\d{4}-\d\d-\d\d-\d{6}\.csv$/);
    expect((await blob.text()).split('\r\n').slice(0, 3)).toEqual([
      '_id,balance,name',
      '307,307.50,Person 307',
      '207,207.50,Person 207',
    ]);
    await until(() => stand.text('.eg-notice').includes('Exported as CSV'));
  });

  test('may be of one page, as Arrow', async () => {
    await live({ look: { page: 50, position: 100 } });
    const file = saved();
    await stand.press('Export');
    await until(() => stand.element.querySelector('.eg-item'));
    await stand.press('This page as Arrow');
    const { name, blob } = await file;
    expect(name).toMatch(/\.arrow$/);
    expect(blob.size).toBeGreaterThan(1000);
  });

  test('says why it failed', async () => {
    await live();
    await house.network('refuse');
    await house.network('cut');
    await stand.press('Export');
    await until(() => stand.element.querySelector('.eg-item'));
    await stand.press('All rows as CSV');
    await until(() => stand.text('.eg-notice').startsWith('The export failed.'));
    await house.network('heal');
    await stand.sees('status', 'Live');
  });
});
