/** Whatever a page does and whatever happens to it, in the end it sees what there is. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  connect,
  type Client,
  type Place,
  type Query,
  type TableSubscription,
} from '../src/index.js';
import { PEOPLE, people, person } from './people.js';
import { Stage } from './stage.js';
import { ids, until } from './waiting.js';

const STEPS = 150;

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});
afterAll(() => stage.close());

/** A look at the table, and what it should show. */
interface Look {
  readonly table: TableSubscription;
  query: Query & { readonly below: number };
  place: Place;
}

/** Small, fast and repeatable: xorshift. */
function dice(seed: number): (sides: number) => number {
  let state = seed | 1;
  return (sides) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % sides;
  };
}

class Scene {
  readonly looks: Look[] = [];
  readonly problems: unknown[] = [];
  readonly names = new Map(people(60).map((one) => [one['number'] as number, one['name']]));
  #next = 60;

  constructor(
    readonly client: Client,
    readonly roll: (sides: number) => number,
  ) {}

  async step(): Promise<void> {
    const look = this.looks[this.roll(Math.max(1, this.looks.length))];
    switch (look ? this.roll(9) : 0) {
      case 0:
        return this.open();
      case 1:
      case 2:
        look!.place = this.place();
        return look!.table.move(look!.place);
      case 3:
        look!.query = this.query();
        return look!.table.change(look!.query);
      case 4:
        this.looks.splice(this.looks.indexOf(look!), 1);
        return look!.table.dispose();
      case 5:
      case 6:
        return this.write();
      case 7:
        return stage.network(this.roll(2) ? 'cut' : 'reset');
      default:
        if (this.roll(4)) return new Promise((resolve) => setTimeout(resolve, this.roll(40)));
        await stage.gateway('stop');
        return stage.gateway('start');
    }
  }

  /** Few kinds of questions and places, so that many are shared. */
  query(): Look['query'] {
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
    if (this.looks.length > 12) return;
    const [query, place] = [this.query(), this.place()];
    const table = this.client.subscribe('people', { ...query, ...place });
    // Whatever it shows at any time is a piece of the view, where it says that it is.
    table.onRows((snapshot) => {
      const { rows, total, offset } = snapshot;
      const isPiece = rows.length <= Math.max(0, total - offset);
      if (!isPiece || new Set(ids(snapshot)).size !== rows.length) this.problems.push(snapshot);
    });
    this.looks.push({ table, query, place });
  }

  async write(): Promise<void> {
    const number = this.roll(3) ? this.roll(this.#next) : this.#next++;
    if (this.roll(4) === 0) {
      this.names.delete(number);
      return stage.gateway('delete', 'people', [String(number)]);
    }
    const name = `Name ${this.roll(1e6)}`;
    this.names.set(number, name);
    return stage.gateway('upsert', 'people', [person(number, name)]);
  }

  /** What a look must show, by the plainest of ways. */
  expected({ query, place }: Look): { total: number; offset: number; rows: unknown[] } {
    const numbers = [...this.names.keys()].filter((number) => number < query.below);
    numbers.sort((a, b) => (query.order?.length ? b - a : a - b));
    const total = numbers.length;
    const offset = place.offset >= 0 ? place.offset : Math.max(0, total + place.offset);
    const shown = numbers.slice(offset, offset + place.limit);
    return { total, offset, rows: shown.map((number) => [String(number), this.names.get(number)]) };
  }
}

test.each([1, Math.floor(Math.random() * 1e9)])('seed %i', async (seed) => {
  await stage.gateway('place', PEOPLE, people(60));
  const client = connect({ url: stage.way, key: stage.secret });
  const scene = new Scene(client, dice(seed));
  for (let step = 0; step < STEPS; step++) await scene.step();
  scene.open();
  for (const look of scene.looks) {
    const { table } = look;
    const seen = () => {
      const { total, offset, rows } = table.snapshot ?? { total: -1, offset: -1, rows: [] };
      return { total, offset, rows: rows.map((row) => [row._id, row['name']]) };
    };
    const expected = JSON.stringify(scene.expected(look));
    await until(seen, (now) => table.status.state === 'live' && JSON.stringify(now) === expected);
  }
  const distinct = new Set(scene.looks.map(({ query, place }) => JSON.stringify([query, place])));
  const subscribers = await until(
    () => stage.metric('subscribers'),
    (count) => count <= scene.looks.length,
  );
  expect(subscribers).toBeGreaterThanOrEqual(distinct.size);
  expect(client.status.phase).toBe('open');
  expect(scene.problems).toEqual([]);
  client.close();
});
