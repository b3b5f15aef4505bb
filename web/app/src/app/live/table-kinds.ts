import type { Column, TableInfo } from '@evergrid/client';

/**
 * The kind of a table, by its columns: names are configurable.
 *
 * - `source`: a topic's messages, one row each
 * - `joined`: rows made from messages of several sources
 * - `quarantine`: messages that could not become rows
 * - `control`: control messages with their verdicts
 * - `generations`: present and earlier generations of the pipeline
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

/** The columns of a joined row that identify one of its messages. */
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

/** Whether the table is about the pipeline; the status page shows such tables. */
export function isAboutPipeline(table: Pick<TableInfo, 'columns'>): boolean {
  return ['control', 'generations'].includes(kindOf(table));
}
