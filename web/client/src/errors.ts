/** The errors of the client. */

/**
 * A request to a gateway failed.
 *
 * `code` is the gateway's error code (docs/protocol.md lists them) or one of the client's:
 * `unreachable`, `closed`, `bad_address`. It is a string, not an enum, because a newer gateway may
 * have codes that this client does not know. `retry`: the same request may succeed later.
 */
export class EvergridError extends Error {
  override readonly name = 'EvergridError';

  constructor(
    readonly code: string,
    message: string,
    readonly retry: boolean = false,
  ) {
    super(message);
  }
}

// The gateway's close codes, for connections whose last message did not arrive.
const CLOSE_CODES: Readonly<Record<number, readonly [code: string, retry: boolean]>> = {
  4400: ['bad_message', false],
  4401: ['not_text', false],
  4402: ['too_large', false],
  4403: ['too_many_messages', true],
  4404: ['unsupported_protocol', false],
  4405: ['not_logged_in', false],
  4406: ['login_late', true],
  4407: ['already_logged_in', false],
  4408: ['bad_key', false],
  4409: ['key_expired', false],
  4410: ['too_many_connections', true],
  4411: ['too_slow', true],
  4412: ['silent', true],
  4413: ['shutting_down', true],
  4414: ['internal', true],
  4415: ['session_ended', true],
};

/** The error for a close code; undefined for codes that are not the gateway's. */
export function closeError(close: number): EvergridError | undefined {
  const known = CLOSE_CODES[close];
  return (
    known &&
    new EvergridError(known[0], `The gateway closed the connection (${known[0]}).`, known[1])
  );
}

/** Capitalises and ends a message; the gateway writes messages in lower case for its log. */
export function asSentence(message: string): string {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
