/** The WebSocket to a gateway, in browsers and outside of them. */

import { SUBPROTOCOL } from './messages.js';

/** Not standard: how programs outside of browsers set headers of the handshake. */
type OpenWithHeaders = new (
  url: string,
  options: { protocols: string; headers: Record<string, string> },
) => WebSocket;

/**
 * A browser sends the page's Origin header. Without one the gateway would expect the key in the
 * handshake; so outside of browsers the client sends the gateway's own origin, and logs in like
 * the gateway's own page.
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
