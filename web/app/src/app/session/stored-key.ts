/**
 * The key: read from the URL's fragment, and stored for this tab only.
 *
 * Browsers do not send a fragment to servers, but keep it in the address bar and in the history. So
 * the page removes the key from it before anything else.
 */

const STORAGE_KEY = 'evergrid.key';

export interface Fragment {
  readonly key: string | undefined;
  /** The fragment without the key: empty, or with its `#`. */
  readonly rest: string;
}

/** Splits a fragment such as `#key=eg_…`; an empty key counts as none. */
export function splitFragment(hash: string): Fragment {
  const parts = hash.replace(/^#/, '').split('&');
  const isKey = (part: string): boolean => /^key(=|$)/.test(part);
  const rest = parts.filter((part) => part && !isKey(part)).join('&');
  const text = parts.find(isKey)?.slice('key='.length) ?? '';
  return { key: decoded(text).trim() || undefined, rest: rest && `#${rest}` };
}

/** Moves the key from the page's URL to the storage; true if there was one. */
export function takeKey(page: Window): boolean {
  const { pathname, search, hash } = page.location;
  if (!/[#&]key(=|&|$)/.test(hash)) return false;
  const { key, rest } = splitFragment(hash);
  page.history.replaceState(page.history.state, '', pathname + search + rest);
  if (key) storeKey(key);
  return key !== undefined;
}

/** For browsers without storage: the key lasts as long as the page. */
let inMemory: string | undefined;

export function storeKey(key: string): void {
  inMemory = key;
  try {
    sessionStorage.setItem(STORAGE_KEY, key);
  } catch {
    // Kept in memory.
  }
}

export function storedKey(): string | undefined {
  try {
    return sessionStorage.getItem(STORAGE_KEY) ?? inMemory;
  } catch {
    return inMemory;
  }
}

export function forgetKey(): void {
  inMemory = undefined;
  try {
    sessionStorage.removeItem(STORAGE_KEY);
  } catch {
    // Then nothing is stored.
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
