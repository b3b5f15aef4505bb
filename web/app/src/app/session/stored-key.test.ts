import { expect, it } from 'vitest';
import { splitFragment, takeKey } from './stored-key';

it('finds the key in a fragment, and leaves the rest', () => {
  expect(splitFragment('#key=eg_abc-_123')).toEqual({ key: 'eg_abc-_123', rest: '' });
  expect(splitFragment('#part&key=eg_a&more=1')).toEqual({ key: 'eg_a', rest: '#part&more=1' });
  expect(splitFragment('#key=eg_a%20')).toEqual({ key: 'eg_a', rest: '' });
  expect(splitFragment('#key=%')).toEqual({ key: '%', rest: '' });
});

it('finds no key if there is none', () => {
  expect(splitFragment('')).toEqual({ key: undefined, rest: '' });
  expect(splitFragment('#monkey=1')).toEqual({ key: undefined, rest: '#monkey=1' });
  expect(splitFragment('#key=')).toEqual({ key: undefined, rest: '' });
});

it('removes a key from the URL and nothing else', () => {
  const addresses: string[] = [];
  const page = pageAt('/tables/final_ui', '?search=a', '#key=eg_secret', addresses);
  expect(takeKey(page)).toBe(true);
  expect(addresses).toEqual(['/tables/final_ui?search=a']);
});

it('removes an empty key from the URL too', () => {
  const addresses: string[] = [];
  expect(takeKey(pageAt('/', '', '#key=', addresses))).toBe(false);
  expect(addresses).toEqual(['/']);
});

it('does not change a URL without a key', () => {
  const addresses: string[] = [];
  expect(takeKey(pageAt('/', '', '#monkey=1', addresses))).toBe(false);
  expect(addresses).toEqual([]);
});

/** The parts of a window that hold the URL. */
function pageAt(pathname: string, search: string, hash: string, seen: string[]): Window {
  const history = {
    state: null,
    replaceState: (_state: unknown, _unused: string, url: string) => seen.push(url),
  };
  return { location: { pathname, search, hash }, history } as unknown as Window;
}
