import type { TableInfo } from '@evergrid/client';

/** The metrics of a table at one time. */
export interface Reading {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly rows: number;
  readonly rate: number;
  /** Seconds; null before the first change. */
  readonly lag: number | null;
  /** Seconds since the newest row's time; null in an empty table. */
  readonly age: number | null;
  readonly bytes: number;
  readonly views: number;
}

export const HISTORY_MS = 5 * 60_000;

/** The readings of the last minutes, by table. Immutable. */
export type TableHistory = ReadonlyMap<string, readonly Reading[]>;

/** The time span of charts: shorter while the history is short. */
export function spanOf(history: TableHistory, now: number): number {
  const oldest = Math.min(
    now,
    ...[...history.values()].map((readings) => readings[0]?.time ?? now),
  );
  return [60_000, 2 * 60_000].find((span) => now - oldest <= span) ?? HISTORY_MS;
}

/** Adds readings of all tables and drops old ones, also of tables that no longer exist. */
export function withReadings(
  history: TableHistory,
  tables: readonly TableInfo[],
  time: number,
): TableHistory {
  const next = new Map<string, readonly Reading[]>();
  const recent = (readings: readonly Reading[]): readonly Reading[] =>
    readings.filter((reading) => reading.time > time - HISTORY_MS && reading.time < time);
  for (const [name, readings] of history) {
    const kept = recent(readings);
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

/** Seconds; 0 if the browser's clock is behind the gateway's. */
export function ageOf({ newest }: Pick<TableInfo, 'newest'>, time: number): number | null {
  return newest === 0 ? null : Math.max(0, (time - newest / 1000) / 1000);
}
