import { describe, expect, test } from 'vitest';
import { exact, formatter, isoTime } from './format.js';

const text = formatter({ language: 'en-GB', zone: 'Europe/Berlin' });
const integer = { kind: 'integer' } as const;
const float = { kind: 'float' } as const;
const timestamp = { kind: 'timestamp' } as const;
const money = { kind: 'decimal', precision: 38, scale: 2 } as const;

describe('formatted values', () => {
  test('null is a dash', () => {
    expect(text(null, integer)).toBe('–');
    expect(text(undefined, { kind: 'text' })).toBe('–');
  });

  test('integers are grouped, however large', () => {
    expect(text(1234567, integer)).toBe('1,234,567');
    expect(text(9007199254740993n, integer)).toBe('9,007,199,254,740,993');
  });

  test('decimals keep all their digits', () => {
    expect(text('12.50', money)).toBe('12.50');
    expect(text('-1234567890123456.70', money)).toBe('-1,234,567,890,123,456.70');
  });

  test.each([
    [0, '0'],
    [0.1 + 0.2, '0.3'],
    [1234.56789, '1,234.5679'],
    [0.00012345, '0.0001235'],
    [1.5e300, '1.5E300'],
    [Number.NaN, 'NaN'],
    [Number.NEGATIVE_INFINITY, '-∞'],
  ])('the float %d is short', (value, shown) => {
    expect(text(value, float)).toBe(shown);
  });

  test('booleans are words', () => {
    expect([true, false].map((value) => text(value, { kind: 'boolean' }))).toEqual(['yes', 'no']);
  });

  test('times are local, with milliseconds, and with the year if it is another one', () => {
    const year = new Date().getFullYear();
    const micros = (y: number): number => Date.UTC(y, 5, 15, 22, 30, 1, 42) * 1000 + 999;
    expect(text(micros(year), timestamp)).toBe('16 Jun, 00:30:01.042');
    expect(text(micros(2001), timestamp)).toBe('16 Jun 2001, 00:30:01.042');
  });

  test('long texts are cut', () => {
    expect(text('x'.repeat(5000), { kind: 'text' })).toHaveLength(301);
  });
});

describe('exact values', () => {
  test('times have microseconds, in UTC', () => {
    expect(exact(1_767_225_600_123_456, timestamp)).toBe('2026-01-01T00:00:00.123456Z');
    expect(isoTime(-1)).toBe('1969-12-31T23:59:59.999999Z');
    expect(isoTime(0n)).toBe('1970-01-01T00:00:00.000000Z');
  });

  test('a time beyond the calendar is a number', () => {
    expect(isoTime(2n ** 63n - 1n)).toBe('9223372036854775807 µs since 1970');
    expect(text(2n ** 63n - 1n, timestamp)).toBe('9223372036854775807 µs since 1970');
  });

  test('nothing is rounded', () => {
    expect(exact(0.1 + 0.2, float)).toBe('0.30000000000000004');
    expect(exact('1.10', money)).toBe('1.10');
    expect(exact(null, float)).toBe('no value');
  });
});
