/**
 * Builds the component for its users: build/angular, for npm pack.
 *
 *   node angular/build.mjs
 *
 * Compiled in Angular's partial mode, which later versions of Angular can link. It is compiled against
 * the built client, so that its types are those that users get.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makePackage as makeClient, version } from '../client/build.mjs';

const ANGULAR = dirname(fileURLToPath(import.meta.url));
const WEB = dirname(ANGULAR);
const ROOT = dirname(WEB);

const compiler = join(WEB, 'node_modules/@angular/compiler-cli/bundles/src/bin/ngc.js');

function checkVersion() {
  const own = JSON.parse(readFileSync(join(ANGULAR, 'package.json'), 'utf8')).version;
  if (own !== version()) {
    throw new Error(
      `version mismatch: angular/package.json has ${own}, client/package.json ${version()}`,
    );
  }
}

/** Writes the npm package to `target`. */
export function makePackage(target = join(WEB, 'build/angular')) {
  checkVersion();
  makeClient();
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const settings = join(ANGULAR, 'tsconfig.build.json');
  execFileSync(process.execPath, [compiler, '-p', settings, '--outDir', target], {
    stdio: 'inherit',
  });
  for (const file of ['package.json', 'README.md']) cpSync(join(ANGULAR, file), join(target, file));
  for (const file of ['LICENSE', 'NOTICE']) cpSync(join(ROOT, file), join(target, file));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) makePackage();
