import { expect, it } from 'vitest';
import { endSentence, isAboutKey, refusalSentence } from './sentences';

it('says in whole sentences what is wrong and what to do', () => {
  const codes = [
    'bad_key',
    'key_expired',
    'origin_refused',
    'host_refused',
    'too_many_connections',
    'unsupported_protocol',
  ];
  for (const code of codes) {
    expect(refusalSentence(code, '')).toMatch(/^[A-Z].{30,}\.$/s);
    expect(endSentence(code, '')).toMatch(/^You were logged out/);
  }
});

it('hands on what the gateway says where it has no better words', () => {
  expect(refusalSentence('internal', 'something broke')).toBe('Something broke.');
  expect(refusalSentence(undefined, '')).toContain('does not say why');
});

it('forgets a key only when the key itself is at fault', () => {
  expect(['bad_key', 'key_expired', 'not_logged_in'].every(isAboutKey)).toBe(true);
  expect(isAboutKey('origin_refused')).toBe(false);
  expect(isAboutKey(undefined)).toBe(false);
});
