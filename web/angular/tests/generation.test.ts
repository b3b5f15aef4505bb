import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import type { TableModel } from '../../client/testing/gateway-process.js';
import { entries, LEDGER, type Entry } from './ledger.js';
import { House, Stand, until, type Wish } from './stand.js';

let house: House;
let stand: Stand;

const live = async (wishes?: Wish): Promise<Stand> => (stand = await Stand.live(house, wishes));

beforeAll(async () => {
  house = await House.open();
});
beforeEach(async () => {
  localStorage.clear();
  await house.call('place', LEDGER, entries(300), 1);
});
afterEach(() => stand.end());
afterAll(() => house.close());

type Columns = TableModel['columns'];

/** The ledger without some columns, and with others after `name`. */
function ledgerOf(without: readonly string[], more: Columns = []): TableModel {
  const kept = LEDGER.columns.filter(({ name }) => !without.includes(name));
  const place = kept.findIndex(({ name }) => name === 'name') + 1;
  return { ...LEDGER, columns: [...kept.slice(0, place), ...more, ...kept.slice(place)] };
}

const CITY = { name: 'city', type: { kind: 'text' } } as const;

/** Another generation of the table takes over. */
async function place(
  generation: number,
  without: readonly string[],
  more: Columns = [],
  cells: Entry = {},
): Promise<void> {
  const drop = (row: Entry): Entry =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name)));
  const rows = entries(300).map((row) => drop({ ...row, ...cells }));
  await house.call('place', ledgerOf(without, more), rows, generation);
}

const has = (...columns: string[]): Promise<unknown> =>
  until(
    () => stand.columns,
    (seen) => seen.join() === columns.join(),
  );

/** Everything that the status chip, the overlay and the banner say from now on. */
function heard(): Readonly<Record<'statuses' | 'overlays' | 'banners', Set<string>>> {
  const said = {
    statuses: new Set<string>(),
    overlays: new Set<string>(),
    banners: new Set<string>(),
  };
  const note = (): void => {
    said.statuses.add(stand.status);
    said.overlays.add(stand.overlay);
    said.banners.add(stand.banner);
  };
  note();
  new MutationObserver(note).observe(stand.element, {
    subtree: true,
    childList: true,
    characterData: true,
  });
  return said;
}

describe('columns of another generation', () => {
  test.each([true, false])(
    'leave the others as they are arranged (remembered: %s)',
    async (remember) => {
      await live({ remember });
      await stand.press('Columns');
      await stand.press('Pin balance left');
      await stand.press('Move name towards the right');
      await userEvent.click(stand.find('.eg-columns li:nth-child(5) input'));
      await userEvent.keyboard('{Escape}');
      await has('#', 'balance', 'age', 'name', 'score', 'ts');
      const edge = stand.header('score').querySelector<HTMLElement>('.ag-header-cell-resize')!;
      await userEvent.dragAndDrop(edge, stand.header('ts'));
      const widths = (): number[] =>
        ['balance', 'name', 'score', 'ts'].map((one) => stand.header(one).offsetWidth);
      const before = widths();

      await place(2, ['age'], [CITY], { city: 'Kyoto' });
      await has('#', 'balance', 'name', 'city', 'score', 'ts');
      expect(widths()).toEqual(before);
      await stand.shows('city', 'Kyoto');

      // Somebody arranges what there is; what is away keeps its place.
      await stand.press('Columns');
      await stand.press('Pin city left');
      await userEvent.keyboard('{Escape}');
      await has('#', 'city', 'balance', 'name', 'score', 'ts');
      await place(3, ['balance', 'city']);
      await has('#', 'age', 'name', 'score', 'ts');
      await place(2, [], [CITY], { city: 'Osaka' });
      await has('#', 'city', 'balance', 'age', 'name', 'score', 'ts');
      expect(widths()).toEqual(before);
      await stand.shows('city', 'Osaka');
    },
  );

  test('take the room that others have left', async () => {
    await live();
    const edge = (): number => stand.header('ts').getBoundingClientRect().right;
    const [before, age] = [edge(), stand.header('age').offsetWidth];
    await place(2, ['name'], [CITY], { city: 'Kyoto' });
    await has('#', 'city', 'age', 'balance', 'score', 'member', 'ts');
    expect(edge()).toBe(before);
    expect(stand.header('age').offsetWidth).toBe(age);
  });

  test('grow for wider rows, where nobody has said how wide they are', async () => {
    await live();
    const width = (): number => stand.header('balance').offsetWidth;
    const before = width();
    await place(2, [], [CITY], { city: 'Kyoto', balance: '1234567890123.50' });
    await stand.shows('balance', '1,234,567,890,123.50');
    expect(width()).toBeGreaterThan(before);
    const grown = width();
    await stand.press('Columns');
    await stand.press('Pin age left');
    await userEvent.keyboard('{Escape}');
    await place(3, [], [], { balance: '123456789012345.50' });
    await stand.shows('balance', '123,456,789,012,345.50');
    expect(width()).toBe(grown);
  });

  test('have other types, and are shown as these', async () => {
    await live({ columns: ['age', 'score'] });
    expect(stand.cell(3, 'age').classList).toContain('eg-numeric');
    const age = { name: 'age', type: { kind: 'timestamp' } } as const;
    const columns = LEDGER.columns.map((one) => (one.name === 'age' ? age : one));
    await house.call('place', { ...LEDGER, columns }, entries(300), 2);
    await until(() => /1970/.test(stand.cell(3, 'age').innerText));
    expect(stand.cell(3, 'age').classList).not.toContain('eg-numeric');
    expect(stand.header('age').querySelector('.eg-head-numeric')).toBeNull();
    expect(stand.header('age').getAttribute('aria-label')).toBe('age, timestamp');
    expect(stand.header('score').querySelector('.eg-head-numeric')).not.toBeNull();
  });

  test('are those of what is open', async () => {
    await live();
    await stand.press('Columns');
    await place(2, ['age'], [CITY]);
    await until(() => stand.text('.eg-columns ul').includes('city'));
    expect(stand.text('.eg-columns ul')).not.toContain('age');
    await userEvent.keyboard('{Escape}');

    await userEvent.hover(stand.header('city'));
    await userEvent.click(stand.button('Filter city'));
    await until(() => stand.element.querySelector('.eg-popover form'));
    await place(3, ['age']);
    await until(() => !stand.element.querySelector('.eg-popover'));

    // Off the headers: another one has come under the pointer, and shows its own button.
    await userEvent.hover(stand.scroller);
    await stand.press('Filter');
    await userEvent.selectOptions(stand.find('.eg-popover select'), 'balance');
    await userEvent.fill(stand.find('.eg-popover [inputmode]'), '12.50');
    await place(4, [], [CITY]);
    await has('#', 'name', 'city', 'age', 'balance', 'score', 'member', 'ts');
    expect(stand.find<HTMLInputElement>('.eg-popover [inputmode]').value).toBe('12.50');
    await userEvent.keyboard('{Escape}');
  });
});

describe('rows of another generation', () => {
  test('are other rows, so that nothing lights up; also when its number is lower', async () => {
    await live();
    for (const generation of [3, 2]) {
      await place(generation, [], [], { name: `Of ${generation}` });
      await stand.shows('name', `Of ${generation}`, `Of ${generation}`);
      expect(stand.element.querySelector('.eg-flash')).toBeNull();
    }
    await stand.sees('status', 'Live');
  });

  test('are seen at the same place, filtered and ordered as before', async () => {
    const filters = [{ column: 'member', op: 'equals', value: true }] as const;
    await live({
      look: { filters, order: [{ column: 'balance', descending: true }], position: 40 },
    });
    await stand.sees('rows', /^rows 41–/);
    const said = heard();
    await place(2, ['score'], [CITY], { city: 'Kyoto' });
    await stand.shows('city', 'Kyoto');
    await stand.sees('rows', /^rows 41–\d+ of 150$/);
    expect(stand.values('balance')).toContain('218.50');
    expect([...said.statuses]).toEqual(['Live']);
    expect([...said.overlays]).toEqual(['']);
    expect(stand.banner).toBe('');
  });

  const names = (count: number, name: string): Entry[] =>
    entries(count).map((row) => ({ ...row, name: `${name} ${row['_offset']}` }));

  test.each([
    ['many', 1000, /^rows 9\d\d–1,000 of 1,000$/],
    ['few', 3, /^rows 1–3 of 3$/],
  ])('may be %s, but fewer: the last ones take the place of those that were', async (...given) => {
    const [, count, seen] = given;
    await house.call('place', LEDGER, entries(3000), 1);
    await live({ look: { position: 2500 } });
    await until(() => stand.values('name').includes('Person 2505'));
    const blank = blanks();
    await house.network('delay', 0.3);
    await house.call('place', LEDGER, names(count, 'Other'), 2);
    await stand.sees('rows', seen);
    await until(() => stand.values('name').at(-1) === `Other ${count - 1}`);
    await house.network('heal');
    expect(blank()).toBe(0);
    await until(() => stand.element.querySelector('[aria-busy="true"]') === null);
  });

  test('may be none', async () => {
    await live({ look: { position: 250 } });
    await house.call('place', LEDGER, [], 2);
    await stand.sees('rows', 'no rows');
    await house.call('place', LEDGER, names(5, 'Other'), 3);
    await stand.sees('rows', 'rows 1–5 of 5');
  });

  test('go on when those that pass a filter become fewer', async () => {
    const filters = [{ column: 'name', op: 'starts_with', value: 'Person' }] as const;
    await house.call('place', LEDGER, entries(3000), 1);
    await live({ look: { filters, position: 2500 } });
    await until(() => stand.values('name').includes('Person 2505'));
    const blank = blanks();
    await house.network('delay', 0.3);
    await house.call('upsert', 'ledger', names(3000, 'Other').slice(1000));
    await stand.sees('rows', '–1,000 of 1,000');
    await until(() => stand.values('name').at(-1) === 'Person 999');
    await house.network('heal');
    expect(blank()).toBe(0);
  });
});

/** In how many frames from now on no row is on the screen. */
function blanks(): () => number {
  let [count, goes] = [0, true];
  const look = (): void => {
    if (!stand.values('name').some(Boolean)) count += 1;
    if (goes) requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  return () => {
    goes = false;
    return count;
  };
}

describe('a filter and an order by a column that goes', () => {
  const filters = [
    { column: 'balance', op: 'greater', value: '99.00' },
    { column: 'member', op: 'equals', value: true },
  ] as const;
  const order = [{ column: 'balance', descending: true }, { column: 'age' }] as const;
  const TAKEN =
    'This table has no column balance now. ' +
    'Taken out: balance greater than 99.00; order by balance, descending.';

  async function lose(look = { filters, order } as Wish['look']): Promise<void> {
    await live({ look: look! });
    await stand.sees('rows', 'of 100');
    const said = heard();
    await place(2, ['balance'], [CITY], { city: 'Kyoto' });
    await stand.sees('rows', 'of 150');
    await stand.shows('city', 'Kyoto');
    expect([...said.overlays]).toEqual(['']);
    for (const status of said.statuses) expect(status).toMatch(/^(Live|Loading)/);
    expect([...said.banners]).toEqual(['', TAKEN]);
    expect(stand.find('[data-eg="lapse"]').getAttribute('role')).toBe('status');
  }

  test('are taken out and said, and the rest stays', async () => {
    await lose();
    expect(stand.look).toEqual({ filters: [filters[1]], order: [{ column: 'age' }] });
    expect(stand.looks).toEqual([stand.look]);
    expect(stand.text('.eg-chips')).toBe('member is yes');
    await stand.shows('age', '0', '0', '0');
    await stand.press('Dismiss');
    await until(() => stand.banner === '');
  });

  test('come back with their column only if somebody wants it', async () => {
    await lose();
    await place(1, []);
    await stand.sees('banner', 'Possible again: balance greater than 99.00; order by balance');
    await stand.sees('rows', 'of 150');
    await stand.press('Put back');
    await stand.sees('rows', 'of 100');
    await stand.shows('age', '0', '0', '2');
    expect(stand.look).toEqual({ filters: [filters[1], filters[0]], order: [order[1], order[0]] });
    await until(() => stand.banner === '');
  });

  test('are taken out after a lost connection too', async () => {
    await live({ look: { filters, order } });
    await house.network('refuse');
    await house.network('cut');
    await stand.sees('status', 'Reconnecting');
    await place(2, ['balance']);
    await house.network('heal');
    await stand.sees('rows', 'of 150');
    await stand.sees('status', 'Live');
    expect(stand.banner).toBe(TAKEN);
  });

  test('are taken out while others look at all of the table', async () => {
    const other = Stand.build(house);
    await until(() => other.status === 'Live');
    await lose();
    other.end();
  });

  test('are not, while the table is away', async () => {
    await live({ look: { filters } });
    await house.call('withdraw', 'ledger');
    await stand.sees('status', 'No such table');
    expect(stand.look).toEqual({ filters });
    await place(2, ['balance']);
    await stand.sees('banner', 'This table has no column balance now');
    await stand.sees('status', 'Live');
  });
});
