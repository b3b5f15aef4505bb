/** A WebSocket to a gateway, in browsers and elsewhere. */

import { SUBPROTOCOL } from './messages.js';

/** Beyond the standard: how programs that are no browsers say more in the handshake. */
type OpenWithHeaders = new (
  url: string,
  options: { protocols: string; headers: Record<string, string> },
) => WebSocket;

/**
 * A browser says by itself whose page is asking. Outside of one there is no page, and the gateway
 * would want the key in the handshake: so we say that we come from its own origin, and log in
 * like its own page.
 */
export function openSocket(url: string): WebSocket {
  const socket = isBrowser()
    ? new WebSocket(url, SUBPROTOCOL)
    : new (WebSocket as unknown as OpenWithHeaders)(url, {
        protocols: SUBPROTOCOL,
        headers: { Origin: new URL(url).origin.replace(/^ws/, 'http') },
      });
  socket.binaryType = 'arraybuffer';
  return socket;
}

function isBrowser(): boolean {
  return typeof document !== 'undefined' || 'WorkerGlobalScope' in globalThis;
}
