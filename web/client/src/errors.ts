/** Every error that the client gives out. */

/**
 * Something asked of a gateway was not to be had.
 *
 * `code` is the gateway's word (the protocol has the list) or one of the client's own:
 * `unreachable`, `closed`, `bad_address`. It is a text and no enum, because a newer gateway may
 * know codes that this client does not. `retry`: the same may work later.
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

// The gateway's close codes, for when its last message got lost on the way.
const FAREWELLS: Readonly<Record<number, readonly [code: string, retry: boolean]>> = {
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
};

/** Why a connection ended, by its close code; undefined when that says nothing. */
export function farewell(close: number): EvergridError | undefined {
  const known = FAREWELLS[close];
  return (
    known &&
    new EvergridError(known[0], `The gateway ended the connection (${known[0]}).`, known[1])
  );
}

/** The gateway's words begin small, as they follow a name in its log. */
export function sentence(words: string): string {
  const text = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
