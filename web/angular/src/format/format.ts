import type { ColumnType, Value } from '@evergrid/client';

/** Cells cut longer texts; the row's details have the whole text. */
const CELL_TEXT = 300;

export interface FormatOptions {
  /** A language tag; default: the browser's language. */
  readonly language?: string;
  /** A time zone; default: the browser's zone. */
  readonly zone?: string;
}

export type Formatter = (value: Value | undefined, type: ColumnType) => string;

/** Formats values for a language and a time zone; null is "–". */
export function formatter(options: FormatOptions = {}): Formatter {
  const numbers = numberFormatters(options.language);
  const times = timeFormatter(options);
  return (value, type) => {
    if (value === null || value === undefined) return '–';
    switch (type.kind) {
      case 'text':
        return shortened(String(value));
      case 'boolean':
        return value === true ? 'yes' : 'no';
      case 'timestamp':
        return times(value as number | bigint);
      case 'float':
        return numbers.float(Number(value));
      case 'decimal':
        return numbers.decimal(String(value), type.scale);
      case 'integer':
        return numbers.integer(value as number | bigint);
    }
  };
}

/** Formats values for the browser's language and time zone. */
export const formatted: Formatter = formatter();

/** The exact value: all digits, times as ISO 8601 in UTC with microseconds. */
export function exact(value: Value | undefined, type: ColumnType): string {
  if (value === null || value === undefined) return 'no value';
  return type.kind === 'timestamp' ? isoTime(value as number | bigint) : String(value);
}

/** Microseconds since 1970 as "2026-01-31T12:00:00.123456Z". */
export function isoTime(micros: number | bigint): string {
  const whole = BigInt(micros);
  const rest = ((whole % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const date = new Date(Number((whole - rest) / 1000n));
  if (Number.isNaN(date.getTime())) return `${whole} µs since 1970`;
  return `${date.toISOString().slice(0, -5)}.${String(rest).padStart(6, '0')}Z`;
}

export function isNumeric(type: ColumnType): boolean {
  return type.kind === 'integer' || type.kind === 'float' || type.kind === 'decimal';
}

function shortened(text: string): string {
  return text.length > CELL_TEXT ? `${text.slice(0, CELL_TEXT)}…` : text;
}

function numberFormatters(language: string | undefined) {
  const whole = new Intl.NumberFormat(language);
  const large = new Intl.NumberFormat(language, { maximumFractionDigits: 4 });
  const small = new Intl.NumberFormat(language, { maximumSignificantDigits: 4 });
  const extreme = new Intl.NumberFormat(language, {
    notation: 'scientific',
    maximumFractionDigits: 4,
  });
  const decimals = new Map<number, Intl.NumberFormat>();
  const byScale = (scale: number): Intl.NumberFormat => {
    const known = decimals.get(scale);
    if (known) return known;
    const digits = { minimumFractionDigits: scale, maximumFractionDigits: scale };
    const made = new Intl.NumberFormat(language, digits);
    decimals.set(scale, made);
    return made;
  };
  return {
    integer: (value: number | bigint) => whole.format(value),
    // As a string, because a number would lose digits.
    decimal: (value: string, scale: number) => byScale(scale).format(value as unknown as number),
    float: (value: number) => {
      const size = Math.abs(value);
      if (size !== 0 && Number.isFinite(size) && (size >= 1e15 || size < 1e-4)) {
        return extreme.format(value);
      }
      return (size < 1 ? small : large).format(value);
    },
  };
}

function timeFormatter({ language, zone }: FormatOptions): (micros: number | bigint) => string {
  const clock = {
    month: 'short',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
    ...(zone === undefined ? {} : { timeZone: zone }),
  } as const;
  const thisYear = new Intl.DateTimeFormat(language, clock);
  const otherYear = new Intl.DateTimeFormat(language, { ...clock, year: 'numeric' });
  return (micros) => {
    const date = new Date(Math.floor(Number(micros) / 1000));
    if (Number.isNaN(date.getTime())) return isoTime(micros);
    const recent = date.getFullYear() === new Date().getFullYear();
    return (recent ? thisYear : otherYear).format(date);
  };
}
