import { sentence } from '../format/sentence';

/** Messages for the user when the gateway refuses the login, with what to do. */

/** Errors of the key itself; a retry with the same key cannot succeed. */
const KEY_ERRORS: ReadonlySet<string> = new Set(['bad_key', 'key_expired', 'not_logged_in']);

export function isKeyError(code: string | undefined): boolean {
  return code !== undefined && KEY_ERRORS.has(code);
}

/** For a login that fails. */
export function loginError(code: string | undefined, message: string): string {
  switch (code) {
    case 'bad_key':
    case 'not_logged_in':
      return (
        'The gateway does not know this key. Check that you copied all of it; it may also have been ' +
        'removed.'
      );
    case 'key_expired':
      return 'This key has expired. Ask for a new one.';
    case 'origin_refused':
      return (
        'Origin not allowed. Open the page at an address of the gateway, or add the origin of this ' +
        "page to the gateway's gateway.origins."
      );
    case 'host_refused':
      return (
        'Host not allowed. Open the page by one of the names of the gateway, or add this name to its ' +
        'gateway.hosts.'
      );
    case 'unsupported_protocol':
      return 'Unsupported protocol: the gateway has another version than this page. Reload the page.';
    case 'too_many_connections':
      return 'Too many connections to the gateway. Close other tabs, or try again later.';
    default:
      return sentence(message) || 'The gateway refused the login without a reason.';
  }
}

/** For a session that the gateway ends. */
export function logoutReason(code: string | undefined, message: string): string {
  switch (code) {
    case 'bad_key':
    case 'not_logged_in':
      return 'You were logged out: the gateway does not know your key any more. Log in with another key.';
    case 'key_expired':
      return 'You were logged out: your key has expired. Log in with another key.';
    default:
      return `You were logged out. ${loginError(code, message)}`;
  }
}
