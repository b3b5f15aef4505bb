import { describe, expect, test } from 'vitest';
import { ChangeGuard } from './change-guard.js';

describe('a view state that the app passes back', () => {
  test('is recognised once, even late', () => {
    const guard = new ChangeGuard(() => 0);
    guard.emitted({ search: 'm' });
    guard.emitted({ search: 'me' });
    expect(guard.isEcho({ search: 'm' })).toBe(true);
    expect(guard.isEcho({ search: 'me' })).toBe(true);
    expect(guard.isEcho({ search: 'm' })).toBe(false);
  });

  test('is not recognised after a later one', () => {
    const guard = new ChangeGuard(() => 0);
    guard.emitted({ position: 1 });
    guard.emitted({ position: 2 });
    expect(guard.isEcho({ position: 2 })).toBe(true);
    expect(guard.isEcho({ position: 1 })).toBe(false);
  });

  test('is a new choice when it was emitted long ago', () => {
    let now = 0;
    const guard = new ChangeGuard(() => now);
    guard.emitted({ search: 'm' });
    now = 60_000;
    expect(guard.isEcho({ search: 'm' })).toBe(false);
  });
});
