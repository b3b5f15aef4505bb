/** A page with ten people before it: a gateway for the file, a client for each test. */

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { connect, type Client } from '../src/index.js';
import { PEOPLE, people } from './people.js';
import { Stage } from './stage.js';
import { until } from './waiting.js';

/** Set up anew by hooks, so they are to be looked at inside of tests. */
export interface Visit {
  readonly stage: Stage;
  readonly client: Client;
}

/** A gateway with ten people, and a client of it. */
export function visit(): Visit {
  const now = {} as { stage: Stage; client: Client };
  beforeAll(async () => {
    now.stage = await Stage.open();
  });
  afterAll(() => now.stage.close());
  beforeEach(async () => {
    await now.stage.gateway('place', PEOPLE, people(10));
    now.client = connect({ url: now.stage.address, key: now.stage.secret });
  });
  afterEach(() => now.client.close());
  return now;
}

/** Waits until the gateway counts so many connections, or windows of them. */
export function counted(
  stage: Stage,
  what: 'connections' | 'subscribers',
  count: number,
): Promise<number> {
  return until(
    () => stage.metric(what),
    (seen) => seen === count,
  );
}
