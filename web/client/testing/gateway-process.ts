/** A real gateway for tests, with rows that the test writes, and a proxy that breaks connections. */

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Column } from '../src/index.js';

export interface GatewayOptions {
  readonly origins?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
  /** A pipeline that offers control choices and gives verdicts. */
  readonly pipeline?: boolean;
}

export interface GatewayInfo {
  readonly address: string;
  readonly secret: string;
  readonly proxy: string;
}

/** The gateway's model of a table. */
export interface TableModel {
  readonly name: string;
  readonly columns: readonly (Omit<Column, 'role'> & { readonly role?: Column['role'] })[];
  readonly row_id: readonly string[];
  readonly order: readonly string[];
}

type Line = { answer?: unknown; error?: string };

const PROGRAM = new URL('./gateway_process.py', import.meta.url).pathname;

export class GatewayProcess {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    child: ChildProcess,
    lines: AsyncIterator<string>,
    readonly info: GatewayInfo,
  ) {
    this.#process = child;
    this.#lines = lines;
  }

  static async start(options: GatewayOptions = {}): Promise<GatewayProcess> {
    const python = process.env['EVERGRID_PYTHON'] ?? 'python';
    const child = spawn(python, [PROGRAM, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return new GatewayProcess(child, lines, JSON.parse(value) as GatewayInfo);
  }

  get address(): string {
    return this.info.address;
  }

  /** The address of the proxy in front of the gateway. */
  get proxy(): string {
    return this.info.proxy;
  }

  get secret(): string {
    return this.info.secret;
  }

  /** Calls a method of the LocalGateway. */
  run<T = void>(call: string, ...given: unknown[]): Promise<T> {
    return this.call('gateway', call, given) as Promise<T>;
  }

  /** Calls a method of the FaultProxy. */
  network<T = void>(call: string, ...given: unknown[]): Promise<T> {
    return this.call('proxy', call, given) as Promise<T>;
  }

  /** Calls run one at a time, in order. */
  call(
    on: string,
    call: string,
    given: readonly unknown[],
    named: Readonly<Record<string, unknown>> = {},
  ): Promise<unknown> {
    const answer = this.#last.then(async () => {
      this.#process.stdin!.write(`${JSON.stringify({ on, call, with: given, named })}\n`);
      const { value } = await this.#lines.next();
      const line = JSON.parse(value as string) as Line;
      if (line.error) throw new Error(`${on}.${call}: ${line.error}`);
      return line.answer;
    });
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  /** The value of one of the gateway's metrics. */
  async metric(name: string): Promise<number> {
    const answer = await fetch(`${this.address}/metrics`, {
      headers: { Authorization: `Bearer ${this.secret}` },
    });
    const line = (await answer.text())
      .split('\n')
      .find((text) => text.startsWith(`evergrid_${name} `));
    return Number(line?.split(' ')[1]);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#process.once('exit', () => resolve());
      this.#process.stdin!.end();
    });
  }
}
