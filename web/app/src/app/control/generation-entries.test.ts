import type { Row } from '@evergrid/client';
import { describe, expect, it } from 'vitest';
import { GENERATION_COLUMNS } from '../live/table-samples';
import { generationEntries } from './generation-entries';
import { CHOICES, generationOf, OTHER_JOIN, pipelineWith } from './control-samples';

function row(generation: number, state: string, cells: Record<string, unknown> = {}): Row {
  return {
    _id: String(generation),
    generation,
    state,
    usersTopic: 'users',
    accountsTopic: 'accounts',
    joinType: 'asof',
    rows: null,
    progress: null,
    lastApplied: null,
    lastError: null,
    changed: 5_000_000,
    ts: 1_000_000,
    ...cells,
  } as Row;
}

const tableOf = (...rows: Row[]) => ({ rows, columns: GENERATION_COLUMNS });

describe('generation entries', () => {
  it('are those of the table, the newest first, whichever is current', () => {
    const table = tableOf(row(1, 'current'), row(2, 'gone'), row(4, 'retiring'));
    const list = generationEntries(undefined, table, undefined);
    expect(list.map(({ generation, state }) => [generation, state])).toEqual([
      [4, 'retiring'],
      [2, 'gone'],
      [1, 'current'],
    ]);
    expect(list[0]).toMatchObject({
      parts: ['users', 'accounts', 'as-of join'],
      fields: { usersTopic: 'users', accountsTopic: 'accounts', joinType: 'asof' },
      rows: undefined,
      changed: 5000,
    });
  });

  it('take progress and retention from the pipeline', () => {
    const progress = { step: 'history', done: 7, total: 10 };
    const pipeline = pipelineWith(
      generationOf(5, 'preparing', { progress }),
      generationOf(4, 'retiring', { kept_until: 9_000_000 }),
    );
    const table = tableOf(row(5, 'preparing', { progress: 'history: 6' }), row(4, 'current'));
    const [coming, replaced] = generationEntries(pipeline, table, undefined);
    expect(coming).toMatchObject({ progress, progressText: 'history: 6' });
    expect(replaced).toMatchObject({ state: 'retiring', keptUntil: 9000 });
  });

  it('are those of the pipeline if the table does not exist', () => {
    const pipeline = pipelineWith(
      generationOf(
        4,
        'failed',
        { error: 'no such topic', changed: 2_000_000 },
        'users_v2',
        'inner',
      ),
    );
    const [failed, current] = generationEntries(pipeline, undefined, CHOICES);
    expect(failed).toEqual({
      generation: 4,
      state: 'failed',
      parts: ['users_v2', 'accounts_v2', 'inner join'],
      fields: { usersTopic: 'users_v2', accountsTopic: 'accounts_v2', joinType: 'inner' },
      rows: undefined,
      changed: 2000,
      keptUntil: 0,
      progress: undefined,
      progressText: '',
      error: 'no such topic',
    });
    expect(current!.state).toBe('current');
    expect(generationEntries(pipeline, undefined, undefined)[0]!.fields).toEqual({});
    expect(generationEntries(undefined, undefined, undefined)).toEqual([]);
  });

  it('name their joins where there are several', () => {
    const { joins } = generationOf(4, 'preparing');
    const two = generationOf(4, 'preparing', {
      joins: [...joins, { ...OTHER_JOIN, type: 'asof' }],
    });
    expect(generationEntries(pipelineWith(two), undefined, undefined)[0]!.parts).toEqual([
      'users',
      'accounts_v2',
      'final: left join',
      'other: as-of join',
    ]);
  });

  it('know which fields are types, also where there are several joins', () => {
    const columns = [
      ...GENERATION_COLUMNS.slice(0, 2),
      ...['finalJoinType', 'otherJoinType'].map((name) => ({
        name,
        type: { kind: 'text' } as const,
        role: 'data' as const,
      })),
    ];
    const cells = { finalJoinType: 'left', otherJoinType: null };
    const parts = (more: Record<string, unknown>) =>
      generationEntries(
        undefined,
        { rows: [row(1, 'current', { ...cells, ...more })], columns },
        undefined,
      )[0]!.parts;
    expect(parts({})).toEqual(['left join']);
    expect(parts({ otherJoinType: 'asof' })).toEqual(['final: left join', 'other: as-of join']);
  });
});
