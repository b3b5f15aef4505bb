import { expect, it } from 'vitest';
import { logoutReason, isKeyError, loginError } from './login-errors';

it('has a message for every code', () => {
  const codes = [
    'bad_key',
    'key_expired',
    'origin_refused',
    'host_refused',
    'too_many_connections',
    'unsupported_protocol',
  ];
  for (const code of codes) {
    expect(loginError(code, '')).toMatch(/^[A-Z].{30,}\.$/s);
    expect(logoutReason(code, '')).toMatch(/^You were logged out/);
  }
});

it('uses the gateway’s message for other codes', () => {
  expect(loginError('internal', 'something broke')).toBe('Something broke.');
  expect(loginError(undefined, '')).toContain('without a reason');
});

it('recognises errors of the key itself', () => {
  expect(['bad_key', 'key_expired', 'not_logged_in'].every(isKeyError)).toBe(true);
  expect(isKeyError('origin_refused')).toBe(false);
  expect(isKeyError(undefined)).toBe(false);
});
