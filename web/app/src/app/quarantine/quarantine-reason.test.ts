import { expect, it } from 'vitest';
import { reasonKind, tally } from './quarantine-reason';

/** Reasons as the pipeline writes them. */
const REASONS: Record<string, string[]> = {
  Tombstone: ['tombstone'],
  Empty: ['empty value'],
  'Too large': ['too large: 300000 bytes, limit 262144'],
  'Not UTF-8': ['not valid UTF-8'],
  'Nested too deep': ['nested deeper than 64 levels'],
  'No object': ['not a JSON object but an array', 'not a JSON object but null'],
  'Field twice': ['duplicate field name: age', 'duplicate field name in a nested object'],
  'Broken JSON': ['not valid JSON'],
  'No time': ['no time: field at is missing or null'],
  'Wrong value': [
    "age: 'NaN' is not integer",
    "age: '9223372036854775808' is out of range for integer",
    "balance: '12.345' does not fit decimal(18,2)",
    "age: 'abc' is not integer; at: 'noon' is not timestamp(ms)",
    "name: 'not valid JSON' is not boolean",
  ],
  Other: ['something new'],
};

for (const [name, reasons] of Object.entries(REASONS)) {
  it(`has the kind ${name}`, () => {
    for (const reason of reasons) {
      const kind = reasonKind(reason);
      expect(kind.name).toBe(name);
      expect(kind.meaning).toMatch(/\.$/);
      expect(kind.remedy).toMatch(/\.$/);
    }
  });
}

it('counts the most frequent first', () => {
  expect(tally(['a', 'b', 'b'])).toEqual([
    { thing: 'b', count: 2 },
    { thing: 'a', count: 1 },
  ]);
});
