/**
 * The key's way into the page: from the address's fragment, kept for this tab alone.
 *
 * A fragment is never sent to a server, but it stays in the address line and in the history, so
 * the key is taken out of it before anything else happens.
 */

const PLACE = 'evergrid.key';

export interface Fragment {
  readonly key: string | undefined;
  /** The fragment without the key: empty, or with its `#`. */
  readonly rest: string;
}

/** What a fragment such as `#key=eg_…` says; a key that is empty is none. */
export function splitFragment(hash: string): Fragment {
  const parts = hash.replace(/^#/, '').split('&');
  const isKey = (part: string): boolean => /^key(=|$)/.test(part);
  const rest = parts.filter((part) => part && !isKey(part)).join('&');
  const text = parts.find(isKey)?.slice('key='.length) ?? '';
  return { key: decoded(text).trim() || undefined, rest: rest && `#${rest}` };
}

/** Takes the key out of the page's address and keeps it; true if there was one. */
export function takeKey(page: Window): boolean {
  const { pathname, search, hash } = page.location;
  if (!/[#&]key(=|&|$)/.test(hash)) return false;
  const { key, rest } = splitFragment(hash);
  page.history.replaceState(page.history.state, '', pathname + search + rest);
  if (key) keepKey(key);
  return key !== undefined;
}

/** For those whose browser keeps nothing: then a key lives as long as the page. */
let held: string | undefined;

export function keepKey(key: string): void {
  held = key;
  try {
    sessionStorage.setItem(PLACE, key);
  } catch {
    // Held above.
  }
}

export function keptKey(): string | undefined {
  try {
    return sessionStorage.getItem(PLACE) ?? held;
  } catch {
    return held;
  }
}

export function forgetKey(): void {
  held = undefined;
  try {
    sessionStorage.removeItem(PLACE);
  } catch {
    // Then nothing was kept either.
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
