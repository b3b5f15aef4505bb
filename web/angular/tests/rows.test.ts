import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { LEDGER, entries, entry } from './ledger.js';
import { House, Stand, until, type Wish } from './stand.js';

const COUNT = 5000;

let house: House;
let stand: Stand;

const live = async (wishes?: Wish): Promise<Stand> => (stand = await Stand.live(house, wishes));

beforeAll(async () => {
  house = await House.open();
  await house.call('place', LEDGER, entries(COUNT));
});
afterEach(() => stand.end());
afterAll(() => house.close());

/** Scrolls as a wheel does: by pixels, then the browser tells. */
function wheel(pixels: number): void {
  stand.scroller.scrollTop += pixels;
}

async function goTo(row: number): Promise<void> {
  await userEvent.fill(stand.find('.eg-jump input'), String(row));
  await userEvent.keyboard('{Enter}');
}

describe('scrolling', () => {
  test('goes through all rows, down to the last one', async () => {
    await live();
    wheel(28 * 700);
    await stand.sees('rows', /^rows 701–/);
    await until(() => stand.cell(705, 'name').innerText === 'Person 705');
    wheel(28 * COUNT);
    await stand.sees('rows', /–5,000 of 5,000$/);
    await until(() => stand.cell(COUNT - 1, 'name').innerText === 'Person 4999');
  });

  test('jumps to any row by its number', async () => {
    await live();
    await goTo(3000);
    await stand.sees('rows', /^rows 3,000–/);
    await until(() => stand.cell(2999, 'name').innerText === 'Person 2999');
    await until(() => stand.look.position === 2999);
    await goTo(1);
    await stand.sees('rows', /^rows 1–/);
    await until(() => stand.look.position === undefined);
  });

  test('never shows a row at a line that is another one’s', async () => {
    await live();
    for (const line of [4000, 120, 2500, 4990, 0]) {
      await goTo(line + 1);
      await until(() => stand.values('name').every(Boolean));
      const numbers = stand.values('#').map((text) => Number(text.replace(/\D/g, '')) - 1);
      expect(stand.values('name')).toEqual(numbers.map((number) => `Person ${number}`));
    }
  });

  test('stays where somebody is while rows are added', async () => {
    await live({ look: { position: 100 } });
    await stand.sees('rows', /^rows 101–/);
    wheel(28 * 50);
    await stand.sees('rows', /^rows 151–/);
    await house.call('upsert', 'ledger', entries(3, COUNT));
    await stand.sees('rows', /^rows 151–.* of 5,003$/);
    await until(() => stand.cell(150, 'name').innerText === 'Person 150');
    await house.call('delete', 'ledger', ['5000', '5001', '5002']);
    await stand.sees('rows', /^rows 151–.* of 5,000$/);
  });

  test('begins where a link says', async () => {
    await live({ look: { position: 1234 } });
    await stand.sees('rows', /^rows 1,235–/);
    await until(() => stand.cell(1234, 'name').innerText === 'Person 1234');
  });

  test('shows changes of rows that were far away', async () => {
    await live();
    await goTo(4001);
    await until(() => stand.cell(4000, 'name').innerText === 'Person 4000');
    await house.call('upsert', 'ledger', [entry(1, { name: 'Changed unseen' })]);
    await goTo(1);
    await until(() => stand.cell(1, 'name').innerText === 'Changed unseen');
    await house.call('upsert', 'ledger', [entry(1)]);
    await until(() => stand.cell(1, 'name').innerText === 'Person 1');
  });
});

describe('pages', () => {
  test('have 300 rows, and ways to all others', async () => {
    await live();
    await stand.press('Pages');
    await stand.sees('rows', 'rows 1–300 of 5,000');
    await stand.press('Next page');
    await stand.sees('rows', 'rows 301–600 of 5,000');
    await stand.shows('name', 'Person 300', 'Person 301');
    await stand.press('Last page');
    await stand.sees('rows', 'rows 4,801–5,000 of 5,000');
    expect(stand.button('Next page').disabled).toBe(true);
    await stand.press('Previous page');
    await stand.sees('rows', 'rows 4,501–4,800 of 5,000');
    await stand.press('First page');
    await stand.sees('rows', 'rows 1–300 of 5,000');
    expect(stand.look).toEqual({ page: 300 });
  });

  test('can have another size, and lead back to scrolling', async () => {
    await live({ look: { page: 300, position: 600 } });
    await stand.sees('rows', 'rows 601–900 of 5,000');
    await userEvent.selectOptions(stand.find('.eg-pager select'), '50');
    await stand.sees('rows', 'rows 601–650 of 5,000');
    await stand.press('Scroll');
    await stand.sees('rows', /^rows 601–6\d\d of 5,000/);
    await until(() => stand.cell(600, 'name').innerText === 'Person 600');
  });

  test('are found by the number of a row', async () => {
    await live({ look: { page: 100 } });
    await goTo(1250);
    await stand.sees('rows', 'rows 1,201–1,300 of 5,000');
    await until(() => stand.cell(49, 'name').innerText === 'Person 1249');
    expect(stand.look.position).toBe(1200);
  });

  test('beyond the end are the last one', async () => {
    await live({ look: { page: 300, position: 90_000 } });
    await stand.sees('rows', 'rows 4,801–5,000 of 5,000');
  });

  test('can be asked for anew', async () => {
    await live({ look: { page: 300, position: 300 } });
    await stand.sees('rows', 'rows 301–600 of 5,000');
    await stand.press('Refresh');
    await stand.shows('name', 'Person 300');
    await stand.sees('status', 'Live');
    await house.call('upsert', 'ledger', [entry(300, { name: 'Mei' })]);
    await stand.shows('name', 'Mei');
    await house.call('upsert', 'ledger', [entry(300)]);
  });
});

describe('following the newest rows', () => {
  let next = COUNT;
  const grow = async (count: number): Promise<void> => {
    await house.call('upsert', 'ledger', entries(count, next));
    next += count;
  };
  const shown = (): string | undefined => stand.values('name').at(-1);

  afterEach(async () => {
    const ids = Array.from({ length: next - COUNT }, (_, index) => String(COUNT + index));
    await house.call('delete', 'ledger', ids);
    next = COUNT;
  });

  test('keeps the last ones on the screen', async () => {
    await live();
    await stand.press('Follow newest');
    await until(() => shown() === 'Person 4999');
    for (const count of [1, 40, 500]) {
      await grow(count);
      await until(() => shown() === `Person ${next - 1}`);
      await stand.sees('rows', `–${next.toLocaleString()} of ${next.toLocaleString()}`);
    }
    expect(stand.look).toEqual({ follow: true });
  });

  test('ends when somebody scrolls, which is said, and begins again at a click', async () => {
    await live({ look: { follow: true } });
    await until(() => shown() === 'Person 4999');
    await grow(200);
    await until(() => shown() === 'Person 5199');
    wheel(-280);
    await until(() => stand.text('.eg-notice').includes('no longer followed'));
    await until(() => stand.look.follow === undefined);
    await stand.sees('rows', /–5,(18|19)\d of 5,200$/);
    const before = stand.rows.split(' of')[0];
    await grow(100);
    await stand.sees('rows', 'of 5,300');
    expect(stand.rows.split(' of')[0]).toBe(before);
    await stand.press('Follow again');
    await until(() => shown() === 'Person 5299');
    await until(() => stand.text('.eg-notice') === '');
  });

  test('works by pages, too', async () => {
    await live({ look: { follow: true, page: 50 } });
    await stand.sees('rows', 'rows 4,951–5,000 of 5,000');
    await grow(7);
    await stand.sees('rows', 'rows 4,958–5,007 of 5,007');
    await until(() => shown() === 'Person 5006');
  });

  test('is at the top when time descends, and gives up an order that has no newest', async () => {
    await live({ look: { order: [{ column: 'ts', descending: true }], follow: true } });
    await stand.shows('name', 'Person 4999');
    await grow(3);
    await stand.shows('name', 'Person 5002', 'Person 5001');
    await userEvent.click(stand.header('name'));
    await until(() => stand.look.follow === undefined);
    await stand.shows('name', 'Person 0', 'Person 1', 'Person 10');
    await stand.press('Follow newest');
    await until(() => shown() === 'Person 5002');
    expect(stand.look).toEqual({ follow: true });
  });
});
