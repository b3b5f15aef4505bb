import type { TableInfo } from '@evergrid/client';

/** How a table was at one moment. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly rows: number;
  readonly rate: number;
  /** Seconds; null while no change has come. */
  readonly lag: number | null;
  /** Seconds since the newest row's time; null in an empty table. */
  readonly age: number | null;
  readonly bytes: number;
  readonly views: number;
}

export const RECORD_MS = 5 * 60_000;

/** The last minutes of every table, by name: a new record, with the old one's readings in it. */
export type TableRecord = ReadonlyMap<string, readonly Reading[]>;

/** How much time charts should show: a record that has just begun would be lost in five minutes. */
export function spanOf(record: TableRecord, now: number): number {
  const oldest = Math.min(now, ...[...record.values()].map((readings) => readings[0]?.time ?? now));
  return [60_000, 2 * 60_000].find((span) => now - oldest <= span) ?? RECORD_MS;
}

/** Tables that are gone keep their readings until those are old. */
export function recorded(
  record: TableRecord,
  tables: readonly TableInfo[],
  time: number,
): TableRecord {
  const next = new Map<string, readonly Reading[]>();
  const young = (readings: readonly Reading[]): readonly Reading[] =>
    readings.filter((reading) => reading.time > time - RECORD_MS && reading.time < time);
  for (const [name, readings] of record) {
    const kept = young(readings);
    if (kept.length > 0) next.set(name, kept);
  }
  for (const table of tables) {
    next.set(table.name, [...(next.get(table.name) ?? []), readingOf(table, time)]);
  }
  return next;
}

function readingOf(table: TableInfo, time: number): Reading {
  return {
    time,
    rows: table.rows,
    rate: table.changes_per_second,
    lag: table.changes > 0 ? table.lag_seconds : null,
    age: ageOf(table, time),
    bytes: table.bytes,
    views: table.views,
  };
}

/** Seconds; our clock may be behind the gateway's, and then the row is simply new. */
export function ageOf({ newest }: Pick<TableInfo, 'newest'>, time: number): number | null {
  return newest === 0 ? null : Math.max(0, (time - newest / 1000) / 1000);
}
