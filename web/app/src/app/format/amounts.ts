/** Formats amounts and times, short and without false precision. */

const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const TENTHS = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const SIZE = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export function count(amount: number): string {
  return WHOLE.format(amount);
}

/** `1 row`, `1,200 rows`. */
export function counted(amount: number, noun: string): string {
  return `${count(amount)} ${noun}${amount === 1 ? '' : 's'}`;
}

export function rate(perSecond: number): string {
  return perSecond >= 10 || perSecond === 0 ? count(perSecond) : TENTHS.format(perSecond);
}

export function bytes(amount: number): string {
  let value = amount;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${(value >= 100 ? WHOLE : SIZE).format(value)} ${UNITS[unit]!}`;
}

/** `40 ms`, `1.2 s`, `48 s`, `12 min`, `3 h`, `2 d`. */
export function duration(seconds: number): string {
  if (seconds < 0.9995) return `${count(seconds * 1000)} ms`;
  if (seconds < 9.95) return `${TENTHS.format(seconds)} s`;
  if (seconds < 119.5) return `${count(seconds)} s`;
  if (seconds < 119.5 * 60) return `${count(seconds / 60)} min`;
  if (seconds < 47.5 * 3600) return `${count(seconds / 3600)} h`;
  return `${count(seconds / 86_400)} d`;
}

/** A duration in whole seconds: `3 s`, `12 min`. */
export function wholeSeconds(seconds: number): string {
  const full = Math.floor(seconds);
  return full < 10 ? `${count(full)} s` : duration(full);
}

/** An age; below one second without a number, because clocks differ. */
export function age(seconds: number): string {
  return seconds < 1 ? 'under 1 s' : duration(seconds);
}

/** The time since a moment; "just now" also if the other clock is ahead. */
export function ago(milliseconds: number, now: number): string {
  const seconds = (now - milliseconds) / 1000;
  return seconds < 1 ? 'just now' : `${wholeSeconds(seconds)} ago`;
}

/** A local time; with its date if it is not today. */
export function moment(milliseconds: number, now: number): string {
  const when = new Date(milliseconds);
  const today = when.toDateString() === new Date(now).toDateString();
  return when.toLocaleString(undefined, {
    ...(today ? {} : { year: 'numeric', month: 'short', day: 'numeric' }),
    hourCycle: 'h23',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}
