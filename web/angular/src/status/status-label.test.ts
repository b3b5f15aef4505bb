import { describe, expect, test } from 'vitest';
import { statusLabel } from './status-label.js';

describe('the label of a status', () => {
  const now = Date.now();
  test.each([
    [{ state: 'live' }, 'Live'],
    [{ state: 'loading', done: 1, total: 3 }, 'Loading 33%'],
    [{ state: 'waiting' }, 'No such table'],
    [{ state: 'refused', code: 'no_rights' }, 'No rights'],
    [{ state: 'refused', code: 'bad_value' }, 'Not understood'],
    [{ state: 'refused', code: 'bad_key' }, 'Refused'],
  ] as const)('%o', (status, label) => {
    expect(statusLabel({ message: '…', ...status }).text).toBe(label);
  });

  test('has the time since when', () => {
    const label = (since: number) => statusLabel({ state: 'stale', message: '…', since }).text;
    expect(label(now)).toMatch(/^Stale since \d\d:\d\d:\d\d$/);
    expect(label(now - 86_400_000 * 2)).toMatch(/^Stale since .+, \d\d:\d\d:\d\d$/);
  });
});
