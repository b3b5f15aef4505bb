/**
 * Builds the client for its users.
 *
 *   node client/build.mjs package   build/client, for npm pack
 *   node client/build.mjs bundle    build/bundle/client.js: one file for pages without a build step
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const CLIENT = dirname(fileURLToPath(import.meta.url));
const WEB = dirname(CLIENT);
const ROOT = dirname(WEB);
const require = createRequire(import.meta.url);

/** The client's version; it must equal that of the Python package. */
export function version() {
  const { version } = JSON.parse(readFileSync(join(CLIENT, 'package.json'), 'utf8'));
  const python = readFileSync(join(ROOT, 'src/evergrid/version.py'), 'utf8');
  if (!python.includes(`__version__ = "${version}"`)) {
    throw new Error(
      `version mismatch: client/package.json has ${version}, src/evergrid/version.py another`,
    );
  }
  return version;
}

/** Writes the npm package to `target`. */
export function makePackage(target = join(WEB, 'build/client')) {
  version();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const compiler = require.resolve('typescript/bin/tsc');
  const settings = join(CLIENT, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', settings, '--outDir', target], {
    stdio: 'inherit',
  });
  for (const file of ['package.json', 'README.md']) cpSync(join(CLIENT, file), join(target, file));
  for (const file of ['LICENSE', 'NOTICE']) cpSync(join(ROOT, file), join(target, file));
}

/** The whole client as one module; every build gives the same text. */
export async function bundleText() {
  const result = await build({
    entryPoints: [join(CLIENT, 'src/index.ts')],
    bundle: true,
    format: 'esm',
    target: 'es2022',
    minify: true,
    legalComments: 'none',
    write: false,
    absWorkingDir: WEB,
    banner: {
      js: `/*! Evergrid client ${version()}, Apache-2.0. Licences of its parts: at the end. */`,
    },
    footer: { js: `/*!\n${licence('@uwdata/flechette')}\n*/` },
  });
  return result.outputFiles[0].text;
}

function licence(name) {
  const folder = join(WEB, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} ${version}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}`;
}

async function makeBundle() {
  const target = join(WEB, 'build/bundle');
  mkdirSync(target, { recursive: true });
  writeFileSync(join(target, 'client.js'), await bundleText());
}

const targets = { package: makePackage, bundle: makeBundle };
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const make = targets[process.argv[2]];
  if (!make) throw new Error(`unknown target; use ${Object.keys(targets).join(' or ')}`);
  await make();
}
