import { expect, it } from 'vitest';
import { arrange, inOrder } from './table-arrangement';
import { kindOf } from './table-kinds';
import { data, pipelineOf, TABLES, tableOf } from './table-samples';

const BOTH = { sources: ['users_ui', 'accounts_ui'], joins: ['final_ui'] };

it('puts the sources beside each other in the order of the pipeline, and joins below', () => {
  expect(arrange(pipelineOf('left'), TABLES)).toEqual(BOTH);
});

it('shows only what the key may read', () => {
  const readable = TABLES.filter(({ name }) => name !== 'accounts_ui');
  expect(arrange(pipelineOf('left'), readable)).toEqual({
    sources: ['users_ui'],
    joins: ['final_ui'],
  });
});

it('shows a table once, however many joins use it', () => {
  const pipeline = pipelineOf('left');
  const [current] = pipeline.generations;
  const twice = { ...current!, joins: [...current!.joins, ...current!.joins] };
  expect(arrange({ ...pipeline, generations: [twice] }, TABLES)).toEqual(BOTH);
});

it('uses the columns if the pipeline is unknown', () => {
  expect(arrange(undefined, TABLES)).toEqual(BOTH);
  expect(arrange({ ...pipelineOf('left'), current: 0 }, TABLES)).toEqual(BOTH);
});

it('shows all tables if their kinds are unknown', () => {
  const tables = ['people', 'places'].map((name) => tableOf(name, [data('name')]));
  expect(arrange(undefined, tables)).toEqual({ sources: [], joins: ['people', 'places'] });
  expect(arrange(undefined, [])).toEqual({ sources: [], joins: [] });
});

it('does not show tables about the pipeline as data', () => {
  const system = TABLES.filter(({ name }) => ['control_raw', 'orchestrator_status'].includes(name));
  expect(arrange(undefined, system)).toEqual({ sources: [], joins: [] });
  expect(system.map(kindOf)).toEqual(['control', 'generations']);
});

it('lists sources, then joins, then the rest', () => {
  const names = inOrder(BOTH, TABLES).map(({ name }) => name);
  expect(names).toEqual([
    'users_ui',
    'accounts_ui',
    'final_ui',
    'quarantine',
    'control_raw',
    'orchestrator_status',
  ]);
});
