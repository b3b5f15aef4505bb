import type { Look } from '@evergrid/angular';
import { describe, expect, it } from 'vitest';
import { readLook, sameLook, writeLook, type LookWord } from './look';

/** Through a real address: what a browser does to the words on the way is part of the promise. */
function throughAddress(look: Look, usual: Look = {}): Look {
  const params = new URLSearchParams();
  for (const [word, text] of Object.entries(writeLook(look, usual))) {
    if (text !== null) params.set(word, text);
  }
  const read = new URL(`http://x/?${params}`).searchParams;
  return readLook((word) => read.get(word), usual).look;
}

function read(words: Partial<Record<LookWord, string>>, usual: Look = {}) {
  return readLook((word) => words[word] ?? null, usual);
}

describe('a look in the address', () => {
  const looks: Record<string, Look> = {
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
    'a place': { position: 999_999 },
    'the newest': { follow: true },
    'pages of a place': { page: 300, position: 600 },
  };

  for (const [name, look] of Object.entries(looks)) {
    it(`comes back as it was: ${name}`, () => {
      expect(throughAddress(look)).toEqual(look);
    });
    it(`comes back where following is usual: ${name}`, () => {
      expect(throughAddress(look, { follow: true })).toEqual(look);
    });
  }

  it('is readable', () => {
    const look: Look = {
      search: 'sato',
      order: [{ column: 'balance', descending: true }, { column: 'name' }],
      position: 1200,
      page: 300,
    };
    expect(writeLook(look)).toEqual({
      search: 'sato',
      order: '-balance,name',
      filter: null,
      row: '1201',
      follow: null,
      page: '300',
    });
  });

  it('is empty for what is usual', () => {
    const usual: Look = { follow: true };
    expect(Object.values(writeLook(usual, usual))).toEqual(Array(6).fill(null));
    expect(writeLook({}, usual).follow).toBe('0');
  });

  it('says nothing of a place that moves by itself', () => {
    expect(writeLook({ follow: true, position: 500 }).row).toBeNull();
  });

  it('is the same look however it is written', () => {
    expect(sameLook({}, { search: '', filters: [], order: [], position: 0 })).toBe(true);
    expect(sameLook({ search: 'a' }, { search: 'b' })).toBe(false);
  });
});

describe('a link that was cut or made up', () => {
  const nonsense: [LookWord, string][] = [
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
  for (const [word, text] of nonsense) {
    it(`is left out and said: ${word}=${text.slice(0, 40)}`, () => {
      expect(read({ [word]: text, page: word === 'page' ? text : '50' })).toEqual({
        look: word === 'page' ? {} : { page: 50 },
        unread: [word],
      });
    });
  }

  it('carries nothing on to the gateway but what a condition has', () => {
    const filter = '[{"column":"age","op":"equals","value":1,"extra":"x","__proto__":{"y":1}}]';
    expect(read({ filter }).look.filters).toEqual([{ column: 'age', op: 'equals', value: 1 }]);
  });
});
