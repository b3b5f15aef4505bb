/** Vitest commands with which tests in a browser start gateways. */

import { GatewayProcess, type GatewayInfo, type GatewayOptions } from './gateway-process.js';

const running = new Map<string, GatewayProcess>();

/** Vitest runs these in Node; the first argument is Vitest's context. */
export const gatewayCommands = {
  async startGateway(_context: unknown, options: GatewayOptions): Promise<GatewayInfo> {
    const gateway = await GatewayProcess.start(options);
    running.set(gateway.address, gateway);
    return gateway.info;
  },

  callGateway(
    _context: unknown,
    address: string,
    on: string,
    call: string,
    given: readonly unknown[],
  ): Promise<unknown> {
    return running.get(address)!.call(on, call, given);
  },

  async stopGateway(_context: unknown, address: string): Promise<void> {
    await running.get(address)?.stop();
    running.delete(address);
  },
};
