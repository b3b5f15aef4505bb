import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, entry, LEDGER } from '../../testing/ledger.js';
import {
  TableHarness,
  TestGateway,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';

const COUNT = 5000;

let gateway: TestGateway;
let harness: TableHarness;

const live = async (options?: HarnessOptions): Promise<TableHarness> =>
  (harness = await TableHarness.live(gateway, options));

beforeAll(async () => {
  gateway = await TestGateway.open();
  await gateway.call('place', LEDGER, entries(COUNT));
});
afterEach(() => harness.end());
afterAll(() => gateway.close());

/** Scrolls by pixels, as a wheel does. */
function wheel(pixels: number): void {
  harness.scroller.scrollTop += pixels;
}

async function goTo(row: number): Promise<void> {
  await userEvent.fill(harness.find('.eg-go-to input'), String(row));
  await userEvent.keyboard('{Enter}');
}

describe('scrolling', () => {
  test('goes through all rows, down to the last one', async () => {
    await live();
    wheel(28 * 700);
    await harness.sees('rows', /^rows 701–/);
    await until(() => harness.cell(705, 'name').innerText === 'Person 705');
    wheel(28 * COUNT);
    await harness.sees('rows', /–5,000 of 5,000$/);
    await until(() => harness.cell(COUNT - 1, 'name').innerText === 'Person 4999');
  });

  test('jumps to any row by its number', async () => {
    await live();
    await goTo(3000);
    await harness.sees('rows', /^rows 3,000–/);
    await until(() => harness.cell(2999, 'name').innerText === 'Person 2999');
    await until(() => harness.look.position === 2999);
    await goTo(1);
    await harness.sees('rows', /^rows 1–/);
    await until(() => harness.look.position === undefined);
  });

  test('never shows a row on a wrong line', async () => {
    await live();
    for (const line of [4000, 120, 2500, 4990, 0]) {
      await goTo(line + 1);
      await until(() => harness.values('name').every(Boolean));
      const numbers = harness.values('#').map((text) => Number(text.replace(/\D/g, '')) - 1);
      expect(harness.values('name')).toEqual(numbers.map((number) => `Person ${number}`));
    }
  });

  test('keeps its position while rows are added', async () => {
    await live({ look: { position: 100 } });
    await harness.sees('rows', /^rows 101–/);
    wheel(28 * 50);
    await harness.sees('rows', /^rows 151–/);
    await gateway.call('upsert', 'ledger', entries(3, COUNT));
    await harness.sees('rows', /^rows 151–.* of 5,003$/);
    await until(() => harness.cell(150, 'name').innerText === 'Person 150');
    await gateway.call('delete', 'ledger', ['5000', '5001', '5002']);
    await harness.sees('rows', /^rows 151–.* of 5,000$/);
  });

  test('begins at the position of the view state', async () => {
    await live({ look: { position: 1234 } });
    await harness.sees('rows', /^rows 1,235–/);
    await until(() => harness.cell(1234, 'name').innerText === 'Person 1234');
  });

  test('shows changes of rows that were not loaded', async () => {
    await live();
    await goTo(4001);
    await until(() => harness.cell(4000, 'name').innerText === 'Person 4000');
    await gateway.call('upsert', 'ledger', [entry(1, { name: 'Changed unseen' })]);
    await goTo(1);
    await until(() => harness.cell(1, 'name').innerText === 'Changed unseen');
    await gateway.call('upsert', 'ledger', [entry(1)]);
    await until(() => harness.cell(1, 'name').innerText === 'Person 1');
  });
});
