import type { Column, TableInfo } from '@evergrid/client';
import type { Pipeline } from './pipeline';

/** Tables and a pipeline for tests. */

const TEXT = { kind: 'text' } as const;
const INTEGER = { kind: 'integer' } as const;
const TIMESTAMP = { kind: 'timestamp' } as const;

export const data = (name: string): Column => ({ name, type: TEXT, role: 'data' });
const trace = (name: string): Column => ({ name, type: INTEGER, role: 'trace' });
const TS: Column = { name: 'ts', type: TIMESTAMP, role: 'time' };

export const SOURCE_COLUMNS = [data('userId'), TS, trace('_partition'), trace('_offset')];
export const JOINED_COLUMNS = [
  data('userId'),
  TS,
  ...['users', 'accounts'].flatMap((source) =>
    ['topic', 'partition', 'offset', 'ts'].map((part) => trace(`_${source}_${part}`)),
  ),
];
export const QUARANTINE_COLUMNS = [
  ...['topic', 'reason', 'text'].map(data),
  TS,
  trace('_partition'),
  trace('_offset'),
];

export const CONTROL_COLUMNS = [
  ...['message', 'verdict', 'reason', 'generation', 'by', 'decided'].map(data),
  TS,
  trace('_partition'),
  trace('_offset'),
];
export const GENERATION_COLUMNS = [
  ...['generation', 'state', 'usersTopic', 'accountsTopic', 'joinType', 'rows'].map(data),
  ...['progress', 'lastApplied', 'lastError', 'changed'].map(data),
  TS,
];

export function tableOf(
  name: string,
  columns: readonly Column[],
  more: Partial<TableInfo> = {},
): TableInfo {
  return {
    name,
    columns,
    state: 'live',
    message: '',
    generation: 3,
    rows: 10,
    bytes: 1000,
    max_rows: 0,
    max_bytes: 0,
    changes: 10,
    changes_per_second: 2,
    newest: 0,
    lag_seconds: 0.04,
    since: 0,
    views: 1,
    done: 0,
    total: 0,
    ...more,
  };
}

export const TABLES: readonly TableInfo[] = [
  tableOf('accounts_ui', SOURCE_COLUMNS),
  tableOf('final_ui', JOINED_COLUMNS),
  tableOf('quarantine', QUARANTINE_COLUMNS, { generation: 0 }),
  tableOf('users_ui', SOURCE_COLUMNS),
  tableOf('control_raw', CONTROL_COLUMNS, { generation: 0 }),
  tableOf('orchestrator_status', GENERATION_COLUMNS, { generation: 0 }),
];

export function pipelineOf(type: string): Pipeline {
  return {
    state: 'live',
    message: 'The pipeline runs.',
    beat: 0,
    current: 3,
    generations: [
      {
        generation: 3,
        state: 'current',
        created: 0,
        changed: 0,
        error: '',
        sources: [
          { name: 'users', topic: 'users', table: 'users_ui' },
          { name: 'accounts', topic: 'accounts_v2', table: 'accounts_ui' },
        ],
        joins: [{ name: 'final', type, table: 'final_ui', left: 'users', right: 'accounts' }],
        tables: ['users_ui', 'accounts_ui', 'final_ui'],
      },
    ],
  };
}
