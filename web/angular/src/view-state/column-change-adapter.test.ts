import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
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

describe('a filter and an order by a column that the table loses', () => {
  const filters = [
    { column: 'balance', op: 'greater', value: '99.00' },
    { column: 'member', op: 'equals', value: true },
  ] as const;
  const order = [{ column: 'balance', descending: true }, { column: 'age' }] as const;
  const REMOVED =
    'This table has no column balance now. ' +
    'Removed: balance greater than 99.00; order by balance, descending.';

  async function loseColumn(look = { filters, order } as HarnessOptions['look']): Promise<void> {
    await live({ look: look! });
    await harness.sees('rows', 'of 100');
    const texts = harness.recordTexts();
    await place(2, ['balance'], [CITY], { city: 'Kyoto' });
    await harness.sees('rows', 'of 150');
    await harness.shows('city', 'Kyoto');
    expect([...texts.overlays]).toEqual(['']);
    for (const status of texts.statuses) expect(status).toMatch(/^(Live|Loading)/);
    expect([...texts.banners]).toEqual(['', REMOVED]);
    expect(harness.find('[data-eg="dropped-filters"]').getAttribute('role')).toBe('status');
  }

  test('are removed with a message, and the others stay', async () => {
    await loseColumn();
    expect(harness.look).toEqual({ filters: [filters[1]], order: [{ column: 'age' }] });
    expect(harness.emitted).toEqual([harness.look]);
    expect(harness.text('.eg-chips')).toBe('member is yes');
    await harness.shows('age', '0', '0', '0');
    await harness.press('Dismiss');
    await until(() => harness.banner === '');
  });

  test('return with their column only when the user restores them', async () => {
    await loseColumn();
    await place(1, []);
    await harness.sees('banner', 'Available again: balance greater than 99.00; order by balance');
    await harness.sees('rows', 'of 150');
    await harness.press('Restore');
    await harness.sees('rows', 'of 100');
    await harness.shows('age', '0', '0', '2');
    expect(harness.look).toEqual({
      filters: [filters[1], filters[0]],
      order: [order[1], order[0]],
    });
    await until(() => harness.banner === '');
  });

  test('are removed after a lost connection too', async () => {
    await live({ look: { filters, order } });
    await gateway.network('refuse');
    await gateway.network('cut');
    await harness.sees('status', 'Reconnecting');
    await place(2, ['balance']);
    await gateway.network('heal');
    await harness.sees('rows', 'of 150');
    await harness.sees('status', 'Live');
    expect(harness.banner).toBe(REMOVED);
  });

  test('are removed while another table shows all rows', async () => {
    const other = TableHarness.build(gateway);
    await until(() => other.status === 'Live');
    await loseColumn();
    other.end();
  });

  test('stay while the table does not exist', async () => {
    await live({ look: { filters } });
    await gateway.call('withdraw', 'ledger');
    await harness.sees('status', 'No such table');
    expect(harness.look).toEqual({ filters });
    await place(2, ['balance']);
    await harness.sees('banner', 'This table has no column balance now');
    await harness.sees('status', 'Live');
  });
});

test('filters and orders by unknown columns are removed with a message, and the others apply', async () => {
  const filters = [
    { column: 'age', op: 'contains', value: 'x' },
    { column: 'age2', op: 'is_null' },
    { column: 'member', op: 'equals', value: true },
  ] as const;
  await live({ look: { order: [{ column: 'gone', descending: true }], filters } });
  await harness.sees('rows', 'of 150');
  expect(harness.banner).toBe(
    'This table has no columns age2 and gone now. The column age holds whole numbers now. ' +
      'Removed: age contains x; age2 is empty; order by gone, descending.',
  );
  expect(harness.look).toEqual({ filters: [filters[2]] });
  await harness.press('Dismiss');
  await until(() => harness.banner === '');
});
