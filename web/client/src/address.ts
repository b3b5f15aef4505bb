/** The address of a gateway and the key for it. */

import { EvergridError } from './errors.js';
import { PATH } from './messages.js';

const EXAMPLE = 'Write it like https://grid.example.com or http://127.0.0.1:8080.';
const SCHEMES: Readonly<Record<string, string>> = {
  'http:': 'http:',
  'https:': 'https:',
  'ws:': 'http:',
  'wss:': 'https:',
};

/** The base address without a trailing slash; the page's own origin when there is no `url`. */
export function addressOf(url: string | undefined): string {
  const text = url?.trim() || (typeof location === 'undefined' ? '' : location.origin);
  let parts: URL;
  try {
    parts = new URL(text);
  } catch {
    throw new EvergridError(
      'bad_address',
      `Invalid address: the gateway's address is not a URL. ${EXAMPLE}`,
    );
  }
  const scheme = SCHEMES[parts.protocol];
  if (!scheme || !parts.host) {
    throw new EvergridError(
      'bad_address',
      `Invalid address: the gateway's address is not an http or https URL. ${EXAMPLE}`,
    );
  }
  if (parts.username || parts.password || parts.search || parts.hash) {
    // The message does not repeat the address, which may contain a secret.
    const message =
      'Invalid address: it may have only scheme, host, port and path. Pass the key as `key`, ' +
      'because addresses are logged.';
    throw new EvergridError('bad_address', message);
  }
  return `${scheme}//${parts.host}${parts.pathname.replace(/\/+$/, '')}`;
}

/** The address of the live protocol's WebSocket. */
export function liveAddress(base: string): string {
  return `${base.replace(/^http/, 'ws')}${PATH}`;
}

/** The error for a key that no gateway would accept; undefined for others. */
export function keyError(key: string): EvergridError | undefined {
  if (!key)
    return new EvergridError(
      'not_logged_in',
      'Missing key. Pass the key that you have for this gateway.',
    );
  if (/[^\x21-\x7e]/.test(key)) {
    return new EvergridError(
      'bad_key',
      'Invalid key: it has characters that keys do not have. Copy it again.',
    );
  }
  return undefined;
}
