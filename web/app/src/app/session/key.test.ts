import { expect, it } from 'vitest';
import { splitFragment, takeKey } from './key';

it('finds the key in a fragment, and leaves the rest', () => {
  expect(splitFragment('#key=eg_abc-_123')).toEqual({ key: 'eg_abc-_123', rest: '' });
  expect(splitFragment('#part&key=eg_a&more=1')).toEqual({ key: 'eg_a', rest: '#part&more=1' });
  expect(splitFragment('#key=eg_a%20')).toEqual({ key: 'eg_a', rest: '' });
  expect(splitFragment('#key=%')).toEqual({ key: '%', rest: '' });
});

it('finds none where there is none', () => {
  expect(splitFragment('')).toEqual({ key: undefined, rest: '' });
  expect(splitFragment('#monkey=1')).toEqual({ key: undefined, rest: '#monkey=1' });
  expect(splitFragment('#key=')).toEqual({ key: undefined, rest: '' });
});

it('takes a key out of the address, with everything else of it in its place', () => {
  const addresses: string[] = [];
  const page = pageAt('/tables/final_ui', '?search=a', '#key=eg_secret', addresses);
  expect(takeKey(page)).toBe(true);
  expect(addresses).toEqual(['/tables/final_ui?search=a']);
});

it('takes an empty key out of the address too', () => {
  const addresses: string[] = [];
  expect(takeKey(pageAt('/', '', '#key=', addresses))).toBe(false);
  expect(addresses).toEqual(['/']);
});

it('leaves an address without a key alone', () => {
  const addresses: string[] = [];
  expect(takeKey(pageAt('/', '', '#monkey=1', addresses))).toBe(false);
  expect(addresses).toEqual([]);
});

/** The part of a window that an address has. */
function pageAt(pathname: string, search: string, hash: string, seen: string[]): Window {
  const history = {
    state: null,
    replaceState: (_state: unknown, _unused: string, url: string) => seen.push(url),
  };
  return { location: { pathname, search, hash }, history } as unknown as Window;
}
