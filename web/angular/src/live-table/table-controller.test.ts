import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, LEDGER } from '../../testing/ledger.js';
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

describe('following the newest rows', () => {
  let next = COUNT;
  const grow = async (count: number): Promise<void> => {
    await gateway.call('upsert', 'ledger', entries(count, next));
    next += count;
  };
  const shown = (): string | undefined => harness.values('name').at(-1);

  afterEach(async () => {
    const ids = Array.from({ length: next - COUNT }, (_, index) => String(COUNT + index));
    await gateway.call('delete', 'ledger', ids);
    next = COUNT;
  });

  test('keeps the last rows on the screen', async () => {
    await live();
    await harness.press('Follow newest');
    await until(() => shown() === 'Person 4999');
    for (const count of [1, 40, 500]) {
      await grow(count);
      await until(() => shown() === `Person ${next - 1}`);
      await harness.sees('rows', `–${next.toLocaleString()} of ${next.toLocaleString()}`);
    }
    expect(harness.look).toEqual({ follow: true });
  });

  test('ends with a notice when the user scrolls, and starts again by a click', async () => {
    await live({ look: { follow: true } });
    await until(() => shown() === 'Person 4999');
    await grow(200);
    await until(() => shown() === 'Person 5199');
    wheel(-280);
    await until(() => harness.text('.eg-notice').includes('no longer follows'));
    await until(() => harness.look.follow === undefined);
    await harness.sees('rows', /–5,(18|19)\d of 5,200$/);
    const before = harness.rows.split(' of')[0];
    await grow(100);
    await harness.sees('rows', 'of 5,300');
    expect(harness.rows.split(' of')[0]).toBe(before);
    await harness.press('Follow again');
    await until(() => shown() === 'Person 5299');
    await until(() => harness.text('.eg-notice') === '');
  });

  test('works with pages', async () => {
    await live({ look: { follow: true, page: 50 } });
    await harness.sees('rows', 'rows 4,951–5,000 of 5,000');
    await grow(7);
    await harness.sees('rows', 'rows 4,958–5,007 of 5,007');
    await until(() => shown() === 'Person 5006');
  });

  test('is at the top when time descends, and drops an order that has no newest end', async () => {
    await live({ look: { order: [{ column: 'ts', descending: true }], follow: true } });
    await harness.shows('name', 'Person 4999');
    await grow(3);
    await harness.shows('name', 'Person 5002', 'Person 5001');
    await userEvent.click(harness.header('name'));
    await until(() => harness.look.follow === undefined);
    await harness.shows('name', 'Person 0', 'Person 1', 'Person 10');
    await harness.press('Follow newest');
    await until(() => shown() === 'Person 5002');
    expect(harness.look).toEqual({ follow: true });
  });
});
