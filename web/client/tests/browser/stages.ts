/** Gateways for tests that run in a browser, where no process can be started. */

import { Stage, type Told, type Wishes } from '../stage.js';

const open = new Map<string, Stage>();

/** Run by Vitest outside of the browser; the first argument is Vitest's own. */
export const stages = {
  async openStage(_context: unknown, wishes: Wishes): Promise<Told> {
    const stage = await Stage.open(wishes);
    open.set(stage.address, stage);
    return stage.told;
  },

  callStage(
    _context: unknown,
    address: string,
    on: string,
    call: string,
    given: readonly unknown[],
  ): Promise<unknown> {
    return open.get(address)!.call(on, call, given);
  },

  async closeStage(_context: unknown, address: string): Promise<void> {
    await open.get(address)?.close();
    open.delete(address);
  },
};
