/** Declarations of the parts of Node that the tests use. */

declare module 'node:child_process' {
  interface Pipe {
    write(text: string): void;
    end(): void;
  }
  export interface ChildProcess {
    readonly stdin: Pipe | null;
    readonly stdout: Pipe | null;
    once(event: 'exit', listener: () => void): void;
  }
  export function spawn(
    program: string,
    given: readonly string[],
    options: { stdio: readonly string[] },
  ): ChildProcess;
  export function execFileSync(
    program: string,
    given: readonly string[],
    options: { encoding: 'utf8'; maxBuffer: number },
  ): string;
}

declare module 'node:readline' {
  export function createInterface(options: { input: object }): AsyncIterable<string>;
}

declare module 'node:fs' {
  export function mkdirSync(path: string, options: { recursive: boolean }): void;
  export function mkdtempSync(prefix: string): string;
  export function readFileSync(path: string, encoding?: 'utf8'): string;
  export function rmSync(path: string, options: { recursive: boolean }): void;
}

declare module 'node:path' {
  export function join(...parts: string[]): string;
}

declare const process: {
  readonly env: Readonly<Record<string, string | undefined>>;
  cwd(): string;
};

declare const Buffer: { from(text: string): { toString(encoding: 'base64'): string } };

declare function setImmediate(call: () => void): object;
