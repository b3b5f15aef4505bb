import type { Column, TableInfo } from '@evergrid/client';

/**
 * What a table is for, told from its columns: names are free, so they tell nothing.
 *
 * - `source`: a topic's messages, one row each
 * - `joined`: rows that say which messages of several sources they were made from
 * - `quarantine`: messages that could not become rows
 * - `other`: anything else
 */
export type TableKind = 'source' | 'joined' | 'quarantine' | 'other';

export const PARTITION = '_partition';
export const OFFSET = '_offset';

const QUARANTINE = ['topic', 'reason', 'text', PARTITION, OFFSET];

/** The columns by which a joined row names one of its messages. */
export interface Side {
  readonly source: string;
  readonly topic: string;
  readonly partition: string;
  readonly offset: string;
  readonly ts: string;
}

/** The sides of a joined table's rows, left before right; none for other tables. */
export function sidesOf(columns: readonly Column[]): readonly Side[] {
  const names = new Set(columns.filter(({ role }) => role === 'trace').map(({ name }) => name));
  const sides: Side[] = [];
  for (const name of names) {
    const source = /^_(.+)_topic$/.exec(name)?.[1];
    if (source === undefined) continue;
    const side = {
      source,
      topic: name,
      partition: `_${source}_partition`,
      offset: `_${source}_offset`,
      ts: `_${source}_ts`,
    };
    if (names.has(side.partition) && names.has(side.offset)) sides.push(side);
  }
  return sides;
}

export function kindOf(table: Pick<TableInfo, 'columns'>): TableKind {
  const names = new Set(table.columns.map(({ name }) => name));
  if (QUARANTINE.every((name) => names.has(name))) return 'quarantine';
  if (sidesOf(table.columns).length > 0) return 'joined';
  return names.has(PARTITION) && names.has(OFFSET) ? 'source' : 'other';
}
