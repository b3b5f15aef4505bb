import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CITY,
  entries,
  LEDGER,
  placeGeneration,
  type Entry,
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

describe('rows of another generation', () => {
  test('do not flash, because they are other rows; also with a lower generation number', async () => {
    await live();
    for (const generation of [3, 2]) {
      await place(generation, [], [], { name: `Of ${generation}` });
      await harness.shows('name', `Of ${generation}`, `Of ${generation}`);
      expect(harness.element.querySelector('.eg-flash')).toBeNull();
    }
    await harness.sees('status', 'Live');
  });

  test('are seen at the same place, filtered and ordered as before', async () => {
    const filters = [{ column: 'member', op: 'equals', value: true }] as const;
    await live({
      look: { filters, order: [{ column: 'balance', descending: true }], position: 40 },
    });
    await harness.sees('rows', /^rows 41–/);
    const texts = harness.recordTexts();
    await place(2, ['score'], [CITY], { city: 'Kyoto' });
    await harness.shows('city', 'Kyoto');
    await harness.sees('rows', /^rows 41–\d+ of 150$/);
    expect(harness.values('balance')).toContain('218.50');
    expect([...texts.statuses]).toEqual(['Live']);
    expect([...texts.overlays]).toEqual(['']);
    expect(harness.banner).toBe('');
  });

  const names = (count: number, name: string): Entry[] =>
    entries(count).map((row) => ({ ...row, name: `${name} ${row['_offset']}` }));

  test.each([
    ['many', 1000, /^rows 9\d\d–1,000 of 1,000$/],
    ['few', 3, /^rows 1–3 of 3$/],
  ])('may be %s, but fewer: the last ones take the place of those that were', async (...given) => {
    const [, count, seen] = given;
    await gateway.call('place', LEDGER, entries(3000), 1);
    await live({ look: { position: 2500 } });
    await until(() => harness.values('name').includes('Person 2505'));
    const blank = countBlankFrames();
    await gateway.network('delay', 0.3);
    await gateway.call('place', LEDGER, names(count, 'Other'), 2);
    await harness.sees('rows', seen);
    await until(() => harness.values('name').at(-1) === `Other ${count - 1}`);
    await gateway.network('heal');
    expect(blank()).toBe(0);
    await until(() => harness.element.querySelector('[aria-busy="true"]') === null);
  });

  test('may be none', async () => {
    await live({ look: { position: 250 } });
    await gateway.call('place', LEDGER, [], 2);
    await harness.sees('rows', 'no rows');
    await gateway.call('place', LEDGER, names(5, 'Other'), 3);
    await harness.sees('rows', 'rows 1–5 of 5');
  });

  test('stay on the screen until the last rows of a shorter result arrive', async () => {
    const filters = [{ column: 'name', op: 'starts_with', value: 'Person' }] as const;
    await gateway.call('place', LEDGER, entries(3000), 1);
    await live({ look: { filters, position: 2500 } });
    await until(() => harness.values('name').includes('Person 2505'));
    const blank = countBlankFrames();
    await gateway.network('delay', 0.3);
    await gateway.call('upsert', 'ledger', names(3000, 'Other').slice(1000));
    await harness.sees('rows', '–1,000 of 1,000');
    await until(() => harness.values('name').at(-1) === 'Person 999');
    await gateway.network('heal');
    expect(blank()).toBe(0);
  });
});

/** Counts the frames without any row on the screen. */
function countBlankFrames(): () => number {
  let [count, running] = [0, true];
  const check = (): void => {
    if (!harness.values('name').some(Boolean)) count += 1;
    if (running) requestAnimationFrame(check);
  };
  requestAnimationFrame(check);
  return () => {
    running = false;
    return count;
  };
}
