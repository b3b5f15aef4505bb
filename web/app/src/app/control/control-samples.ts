import type { ControlChoices } from '@evergrid/client';
import type { Generation, Pipeline } from '../live/pipeline';
import { pipelineOf } from '../live/table-samples';

/** Choices and generations for tests. */

export const CHOICES: ControlChoices = {
  topic: 'evergrid-control',
  topics: ['accounts', 'accounts_v2', 'users', 'users_v2'],
  sources: [
    { name: 'users', field: 'usersTopic', topic: 'users' },
    { name: 'accounts', field: 'accountsTopic', topic: 'accounts_v2' },
  ],
  joins: [{ name: 'final', field: 'joinType', type: 'left' }],
  types: ['asof', 'left', 'inner'],
};

/** A pipeline with generation 3, a left join of users and accounts_v2, and others. */
export function pipelineWith(...others: readonly Generation[]): Pipeline {
  const pipeline = pipelineOf('left');
  return { ...pipeline, generations: [...others, ...pipeline.generations] };
}

export const OTHER_JOIN = { name: 'other', table: 'other_ui', left: 'users', right: 'accounts' };

/** The choices with two joins, each with its own field. */
export const TWO_JOINS: ControlChoices = {
  ...CHOICES,
  joins: [
    { name: 'final', field: 'finalJoinType', type: 'left' },
    { name: 'other', field: 'otherJoinType', type: 'inner' },
  ],
};

export function generationOf(
  generation: number,
  state: string,
  more: Partial<Generation> = {},
  users = 'users',
  type = 'left',
): Generation {
  const [current] = pipelineOf(type).generations;
  const sources = current!.sources.map((one) =>
    one.name === 'users' ? { ...one, topic: users } : one,
  );
  return { ...current!, generation, state, sources, ...more };
}
