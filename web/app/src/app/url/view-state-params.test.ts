import type { ViewState } from '@evergrid/angular';
import { describe, expect, it } from 'vitest';
import {
  readViewState,
  sameViewState,
  writeViewState,
  type ViewStateParam,
} from './view-state-params';

/** Through a real URL, with the browser's encoding. */
function throughUrl(state: ViewState, defaults: ViewState = {}): ViewState {
  const params = new URLSearchParams();
  for (const [param, text] of Object.entries(writeViewState(state, defaults))) {
    if (text !== null) params.set(param, text);
  }
  const read = new URL(`http://x/?${params}`).searchParams;
  return readViewState((param) => read.get(param), defaults).state;
}

function read(params: Partial<Record<ViewStateParam, string>>, defaults: ViewState = {}) {
  return readViewState((param) => params[param] ?? null, defaults);
}

describe('a view state in the URL', () => {
  const states: Record<string, ViewState> = {
    nothing: {},
    'a search with odd letters': { search: '50% & more, "Łukasz" #1 + 🌲' },
    'an order': {
      order: [
        { column: 'balance', descending: true },
        { column: 'name', nulls: 'first' },
      ],
    },
    'every kind of filter': {
      filters: [
        { column: 'name', op: 'contains', value: 'a&b=c', ignore_case: true },
        { column: 'age', op: 'between', value: [30, 39] },
        { column: 'active', op: 'equals', value: true },
        { column: 'kind', op: 'in', value: ['x', 'y,z'] },
        { column: 'gone', op: 'is_null' },
        { column: 'balance', op: 'greater', value: '100.00' },
      ],
    },
    'a position': { position: 999_999 },
    'following the newest': { follow: true },
    'a page': { page: 300, position: 600 },
  };

  for (const [name, state] of Object.entries(states)) {
    it(`is read as it was written: ${name}`, () => {
      expect(throughUrl(state)).toEqual(state);
    });
    it(`is read as it was written where following is the default: ${name}`, () => {
      expect(throughUrl(state, { follow: true })).toEqual(state);
    });
  }

  it('is readable', () => {
    const state: ViewState = {
      search: 'sato',
      order: [{ column: 'balance', descending: true }, { column: 'name' }],
      position: 1200,
      page: 300,
    };
    expect(writeViewState(state)).toEqual({
      search: 'sato',
      order: '-balance,name',
      filter: null,
      row: '1201',
      follow: null,
      page: '300',
    });
  });

  it('is empty for the defaults', () => {
    const defaults: ViewState = { follow: true };
    expect(Object.values(writeViewState(defaults, defaults))).toEqual(Array(6).fill(null));
    expect(writeViewState({}, defaults).follow).toBe('0');
  });

  it('has no position while following the newest rows', () => {
    expect(writeViewState({ follow: true, position: 500 }).row).toBeNull();
  });

  it('is compared without regard to empty fields', () => {
    expect(sameViewState({}, { search: '', filters: [], order: [], position: 0 })).toBe(true);
    expect(sameViewState({ search: 'a' }, { search: 'b' })).toBe(false);
  });
});

describe('an invalid link', () => {
  const invalid: [ViewStateParam, string][] = [
    ['filter', '[{"column":"age"'],
    ['filter', '{"column":"age","op":"equals","value":1}'],
    ['filter', '[{"column":"age","op":"explode","value":1}]'],
    ['filter', '[{"column":"age","op":"toString","value":1}]'],
    ['filter', '[{"column":"age","op":"between","value":[1]}]'],
    ['filter', '[{"column":"age","op":"equals","value":{"a":1}}]'],
    ['filter', '[null]'],
    ['order', '-'],
    ['order', 'name,,age'],
    ['order', 'name,name'],
    ['order', 'name:sideways'],
    ['row', '0'],
    ['row', '-5'],
    ['row', '1e3'],
    ['page', '5001'],
    ['follow', 'yes'],
    ['search', 'x'.repeat(257)],
  ];
  for (const [param, text] of invalid) {
    it(`has ignored parameters: ${param}=${text.slice(0, 40)}`, () => {
      expect(read({ [param]: text, page: param === 'page' ? text : '50' })).toEqual({
        state: param === 'page' ? {} : { page: 50 },
        ignored: [param],
      });
    });
  }

  it('passes only the fields of a condition to the gateway', () => {
    const filter = '[{"column":"age","op":"equals","value":1,"extra":"x","__proto__":{"y":1}}]';
    expect(read({ filter }).state.filters).toEqual([{ column: 'age', op: 'equals', value: 1 }]);
  });
});
