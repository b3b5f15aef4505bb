/** A gateway with ten people for a test file, and a client for each test. */

import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { connect, type Client } from '../src/index.js';
import { PEOPLE, people } from './people.js';
import { GatewayProcess } from './gateway-process.js';
import { until } from './wait.js';

/** Filled by hooks, so read the fields only inside of tests. */
export interface ClientFixture {
  readonly gateway: GatewayProcess;
  readonly client: Client;
}

/** Registers the hooks. */
export function clientFixture(): ClientFixture {
  const now = {} as { gateway: GatewayProcess; client: Client };
  beforeAll(async () => {
    now.gateway = await GatewayProcess.start();
  });
  afterAll(() => now.gateway.stop());
  beforeEach(async () => {
    await now.gateway.run('place', PEOPLE, people(10));
    now.client = connect({ url: now.gateway.address, key: now.gateway.secret });
  });
  afterEach(() => now.client.close());
  return now;
}

/** Waits until the gateway counts so many connections or subscribers. */
export function counted(
  gateway: GatewayProcess,
  what: 'connections' | 'subscribers',
  count: number,
): Promise<number> {
  return until(
    () => gateway.metric(what),
    (seen) => seen === count,
  );
}
