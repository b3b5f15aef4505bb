import { sentence } from '../words/sentence';

/** What a person reads when the gateway says no, and what they can do. */

/** Refusals that say something about the key itself; with such a key it is no use to come back. */
const OF_THE_KEY: ReadonlySet<string> = new Set(['bad_key', 'key_expired', 'not_logged_in']);

export function isAboutKey(code: string | undefined): boolean {
  return code !== undefined && OF_THE_KEY.has(code);
}

/** At the door: somebody tries to log in. */
export function refusalSentence(code: string | undefined, message: string): string {
  switch (code) {
    case 'bad_key':
    case 'not_logged_in':
      return (
        'The gateway does not know this key. Check that all of it was copied; if it was, it may ' +
        'have been removed.'
      );
    case 'key_expired':
      return "This key's time is over. Ask whoever gave it to you for a new one.";
    case 'origin_refused':
      return (
        'The gateway does not allow this page to ask it. Open the page at an address that is one ' +
        "of the gateway's own, or add this one to its gateway.origins."
      );
    case 'host_refused':
      return (
        "The gateway is not called by this address's name. Open it by one of its names, or add " +
        'this one to its gateway.hosts.'
      );
    case 'unsupported_protocol':
      return 'The gateway speaks another version than this page. Reload the page.';
    case 'too_many_connections':
      return 'The gateway has as many connections as it may. Close other tabs, or try again later.';
    default:
      return sentence(message) || 'The gateway refuses, and does not say why.';
  }
}

/** In the middle of a session: the gateway does not let us stay. */
export function endSentence(code: string | undefined, message: string): string {
  switch (code) {
    case 'bad_key':
    case 'not_logged_in':
      return 'You were logged out: the gateway does not know your key any more. Log in with another.';
    case 'key_expired':
      return "You were logged out: your key's time is over. Log in with another.";
    default:
      return `You were logged out. ${refusalSentence(code, message)}`;
  }
}
