import type { Column, TableInfo } from '@evergrid/client';

/**
 * What a table is for, told from its columns: names are free, so they tell nothing.
 *
 * - `source`: a topic's messages, one row each
 * - `joined`: rows that say which messages of several sources they were made from
 * - `quarantine`: messages that could not become rows
 * - `control`: messages that asked for another pipeline, each with its verdict
 * - `generations`: the pipelines that there are and were
 * - `other`: anything else
 */
export type TableKind = 'source' | 'joined' | 'quarantine' | 'control' | 'generations' | 'other';

export const PARTITION = '_partition';
export const OFFSET = '_offset';

const SYSTEM: readonly (readonly [kind: TableKind, columns: readonly string[]])[] = [
  ['quarantine', ['topic', 'reason', 'text', PARTITION, OFFSET]],
  ['control', ['message', 'verdict', 'reason', 'generation', 'by', PARTITION, OFFSET]],
  ['generations', ['generation', 'state', 'rows', 'progress', 'lastApplied', 'lastError']],
];

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
  const system = SYSTEM.find(([, columns]) => columns.every((name) => names.has(name)));
  if (system) return system[0];
  if (sidesOf(table.columns).length > 0) return 'joined';
  return names.has(PARTITION) && names.has(OFFSET) ? 'source' : 'other';
}

/** Whether it tells of the pipeline rather than of data; the status page has such tables. */
export function isAboutPipeline(table: Pick<TableInfo, 'columns'>): boolean {
  return ['control', 'generations'].includes(kindOf(table));
}
