/** Where a gateway is. */

import { EvergridError } from './errors.js';
import { PATH } from './messages.js';

const EXAMPLE = 'Write it like https://grid.example.com or http://127.0.0.1:8080.';
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'ws:': 'http:',
  'wss:': 'https:',
};

/** A gateway's base address, without a slash at its end; the page's own origin when none is given. */
export function addressOf(url: string | undefined): string {
  const text = url?.trim() || (typeof location === 'undefined' ? '' : location.origin);
  let parts: URL;
  try {
    parts = new URL(text);
  } catch {
    throw new EvergridError('bad_address', `The gateway's address is not one. ${EXAMPLE}`);
  }
  const scheme = SCHEMES[parts.protocol];
  if (!scheme || !parts.host) {
    throw new EvergridError(
      'bad_address',
      `The gateway's address is not one of the web. ${EXAMPLE}`,
    );
  }
  if (parts.username || parts.password || parts.search || parts.hash) {
    // Not shown: what is too much in it may be a secret.
    const what = "The gateway's address has more in it than scheme, host, port and path.";
    throw new EvergridError('bad_address', `${what} Give the key as key: addresses get logged.`);
  }
  return `${scheme}//${parts.host}${parts.pathname.replace(/\/+$/, '')}`;
}

/** Where its live windows are. */
export function liveAddress(base: string): string {
  return `${base.replace(/^http/, 'ws')}${PATH}`;
}

/** Why a key cannot be one, before anybody is asked; undefined when it may be. */
export function keyProblem(key: string): EvergridError | undefined {
  if (!key)
    return new EvergridError(
      'not_logged_in',
      'There is no key. Give the one you got for this gateway.',
    );
  if (/[^\x21-\x7e]/.test(key)) {
    return new EvergridError(
      'bad_key',
      'The key has characters that no key has. Copy it once more.',
    );
  }
  return undefined;
}
