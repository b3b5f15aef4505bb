/** The npm package, and the one file for pages without a build step. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleText, makePackage, version } from './build.mjs';
import type * as Package from './src/index.js';
import type * as Streams from './src/rxjs.js';
import { PEOPLE, people } from './testing/people.js';
import { GatewayProcess } from './testing/gateway-process.js';
import { ids, stateIs } from './testing/wait.js';

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await GatewayProcess.start();
  await gateway.run('place', PEOPLE, people(3));
});
afterAll(() => gateway.stop());

async function tryOut({ connect, EvergridError }: typeof Package): Promise<void> {
  expect(new EvergridError('code', 'What.')).toBeInstanceOf(Error);
  const client = connect({ url: gateway.address, key: gateway.secret });
  const table = client.subscribe('people');
  await stateIs(table, 'live');
  expect(ids(table)).toEqual(['0', '1', '2']);
  expect('toString' in table.rows[0]!).toBe(false);
  client.close();
}

test('the bundle is the whole client, and the same for every build', async () => {
  const text = await bundleText();
  expect(await bundleText()).toBe(text);
  expect(text.startsWith(`/*! Evergrid client ${version()}, Apache-2.0.`)).toBe(true);
  expect(text).toContain('Copyright (c) 2024, UW Interactive Data Lab');
  expect(text).not.toMatch(/^import |\beval\(|new Function|sourceMappingURL/m);
  expect(text).not.toContain(process.cwd());
  const address = `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
  await tryOut((await import(/* @vite-ignore */ address)) as typeof Package);
});

test('the package has all its files', async () => {
  // Inside of the workspace, where Node finds its dependencies.
  const build = new URL('../build', import.meta.url).pathname;
  mkdirSync(build, { recursive: true });
  const folder = mkdtempSync(join(build, 'client-'));
  try {
    makePackage(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: '@evergrid/client', version: version() });
    for (const entry of Object.values<{ types: string }>(manifest.exports)) {
      expect(readFileSync(join(folder, entry.types), 'utf8')).not.toBe('');
    }
    for (const file of ['LICENSE', 'NOTICE', 'README.md']) readFileSync(join(folder, file));
    await tryOut((await import(join(folder, manifest.exports['.'].default))) as typeof Package);
    const streams = (await import(
      join(folder, manifest.exports['./rxjs'].default)
    )) as typeof Streams;
    expect(streams.streamTable).toBeTypeOf('function');
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 240_000);
