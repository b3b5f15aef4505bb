/** After random actions and failures, every subscription shows the right rows. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type Client, type Place, type Query, type TableSubscription } from './index.js';
import { PEOPLE, people, person } from '../testing/people.js';
import { GatewayProcess } from '../testing/gateway-process.js';
import { ids, until } from '../testing/wait.js';

const STEPS = 150;

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await GatewayProcess.start();
});
afterAll(() => gateway.stop());

/** A subscription, and the query and place that it should show. */
interface Tracked {
  readonly table: TableSubscription;
  query: Query & { readonly below: number };
  place: Place;
}

/** A repeatable random generator: xorshift. */
function dice(seed: number): (sides: number) => number {
  let state = seed | 1;
  return (sides) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % sides;
  };
}

class Scenario {
  readonly tracked: Tracked[] = [];
  readonly problems: unknown[] = [];
  readonly names = new Map(people(60).map((one) => [one['number'] as number, one['name']]));
  #next = 60;

  constructor(
    readonly client: Client,
    readonly roll: (sides: number) => number,
  ) {}

  async step(): Promise<void> {
    const one = this.tracked[this.roll(Math.max(1, this.tracked.length))];
    switch (one ? this.roll(9) : 0) {
      case 0:
        return this.open();
      case 1:
      case 2:
        one!.place = this.place();
        return one!.table.move(one!.place);
      case 3:
        one!.query = this.query();
        return one!.table.change(one!.query);
      case 4:
        this.tracked.splice(this.tracked.indexOf(one!), 1);
        return one!.table.dispose();
      case 5:
      case 6:
        return this.write();
      case 7:
        return gateway.network(this.roll(2) ? 'cut' : 'reset');
      default:
        if (this.roll(4)) return new Promise((resolve) => setTimeout(resolve, this.roll(40)));
        await gateway.run('stop');
        return gateway.run('start');
    }
  }

  /** Few different queries and places, so that many windows are shared. */
  query(): Tracked['query'] {
    const below = [10, 30, 1000][this.roll(3)]!;
    return {
      below,
      filter: { column: 'number', op: 'less', value: below },
      order: this.roll(2) ? [{ column: 'number', descending: true }] : [],
    };
  }

  place(): Place {
    return { offset: [0, 5, 12, -7, 500][this.roll(5)]!, limit: [3, 10, 100][this.roll(3)]! };
  }

  open(): void {
    if (this.tracked.length > 12) return;
    const [query, place] = [this.query(), this.place()];
    const table = this.client.subscribe('people', { ...query, ...place });
    // Every snapshot is a slice of the result at its offset.
    table.onRows((snapshot) => {
      const { rows, total, offset } = snapshot;
      const isSlice = rows.length <= Math.max(0, total - offset);
      if (!isSlice || new Set(ids(snapshot)).size !== rows.length) this.problems.push(snapshot);
    });
    this.tracked.push({ table, query, place });
  }

  async write(): Promise<void> {
    const number = this.roll(3) ? this.roll(this.#next) : this.#next++;
    if (this.roll(4) === 0) {
      this.names.delete(number);
      return gateway.run('delete', 'people', [String(number)]);
    }
    const name = `Name ${this.roll(1e6)}`;
    this.names.set(number, name);
    return gateway.run('upsert', 'people', [person(number, name)]);
  }

  /** What a subscription must show, computed in the simplest way. */
  expected({ query, place }: Tracked): { total: number; offset: number; rows: unknown[] } {
    const numbers = [...this.names.keys()].filter((number) => number < query.below);
    numbers.sort((a, b) => (query.order?.length ? b - a : a - b));
    const total = numbers.length;
    const offset = place.offset >= 0 ? place.offset : Math.max(0, total + place.offset);
    const shown = numbers.slice(offset, offset + place.limit);
    return { total, offset, rows: shown.map((number) => [String(number), this.names.get(number)]) };
  }
}

test.each([1, Math.floor(Math.random() * 1e9)])('seed %i', async (seed) => {
  await gateway.run('place', PEOPLE, people(60));
  const client = connect({ url: gateway.proxy, key: gateway.secret });
  const scenario = new Scenario(client, dice(seed));
  for (let step = 0; step < STEPS; step++) await scenario.step();
  scenario.open();
  for (const one of scenario.tracked) {
    const { table } = one;
    const seen = () => {
      const { total, offset, rows } = table.snapshot ?? { total: -1, offset: -1, rows: [] };
      return { total, offset, rows: rows.map((row) => [row._id, row['name']]) };
    };
    const expected = JSON.stringify(scenario.expected(one));
    await until(seen, (now) => table.status.state === 'live' && JSON.stringify(now) === expected);
  }
  const distinct = new Set(
    scenario.tracked.map(({ query, place }) => JSON.stringify([query, place])),
  );
  const subscribers = await until(
    () => gateway.metric('subscribers'),
    (count) => count <= scenario.tracked.length,
  );
  expect(subscribers).toBeGreaterThanOrEqual(distinct.size);
  expect(client.status.phase).toBe('open');
  expect(scenario.problems).toEqual([]);
  client.close();
});
