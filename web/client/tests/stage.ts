/** A real gateway for a test, on rows that the test writes, and a network that it can break. */

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Column } from '../src/index.js';

export interface Wishes {
  readonly origins?: readonly string[];
  readonly limits?: Readonly<Record<string, number>>;
  /** One that tells what control messages may ask for, and judges them. */
  readonly pipeline?: boolean;
}

export interface Told {
  readonly address: string;
  readonly secret: string;
  readonly way: string;
}

/** As the gateway's own model of a table has it. */
export interface TableModel {
  readonly name: string;
  readonly columns: readonly (Omit<Column, 'role'> & { readonly role?: Column['role'] })[];
  readonly row_id: readonly string[];
  readonly order: readonly string[];
}

type Line = { answer?: unknown; error?: string };

const PROGRAM = new URL('./stage.py', import.meta.url).pathname;

export class Stage {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    child: ChildProcess,
    lines: AsyncIterator<string>,
    readonly told: Told,
  ) {
    this.#process = child;
    this.#lines = lines;
  }

  static async open(wishes: Wishes = {}): Promise<Stage> {
    const python = process.env['EVERGRID_PYTHON'] ?? 'python';
    const child = spawn(python, [PROGRAM, JSON.stringify(wishes)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
    const { value } = await lines.next();
    return new Stage(child, lines, JSON.parse(value) as Told);
  }

  /** Where the gateway is, and the way to it that can be made bad. */
  get address(): string {
    return this.told.address;
  }

  get way(): string {
    return this.told.way;
  }

  get secret(): string {
    return this.told.secret;
  }

  gateway<T = void>(call: string, ...given: unknown[]): Promise<T> {
    return this.call('gateway', call, given) as Promise<T>;
  }

  network<T = void>(call: string, ...given: unknown[]): Promise<T> {
    return this.call('way', call, given) as Promise<T>;
  }

  /** One at a time, in the order of asking. */
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

  /** A number of the gateway's metrics. */
  async metric(name: string): Promise<number> {
    const answer = await fetch(`${this.address}/metrics`, {
      headers: { Authorization: `Bearer ${this.secret}` },
    });
    const line = (await answer.text())
      .split('\n')
      .find((text) => text.startsWith(`evergrid_${name} `));
    return Number(line?.split(' ')[1]);
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#process.once('exit', () => resolve());
      this.#process.stdin!.end();
    });
  }
}
