import type { TableInfo } from '@evergrid/client';
import { isAboutPipeline, kindOf, sidesOf } from './table-kinds';
import { currentGeneration, type Pipeline } from './pipeline';

/** The layout of the dashboard: sources beside each other, joined tables below. */
export interface Arrangement {
  readonly sources: readonly string[];
  readonly joins: readonly string[];
}

/**
 * The tables of the current generation that the key may read. If the pipeline is unknown, the columns
 * tell the kind of a table; if that finds nothing, all data tables are shown.
 */
export function arrange(pipeline: Pipeline | undefined, tables: readonly TableInfo[]): Arrangement {
  const readable = new Set(tables.map(({ name }) => name));
  const current = currentGeneration(pipeline);
  const planned = {
    sources: distinct(
      current?.sources.map(({ table }) => table),
      readable,
    ),
    joins: distinct(
      current?.joins.map(({ table }) => table),
      readable,
    ),
  };
  if (planned.sources.length + planned.joins.length > 0) return planned;
  const named = (kind: string): string[] =>
    tables.filter((table) => kindOf(table) === kind).map(({ name }) => name);
  const guessed = { sources: bySides(named('source'), tables), joins: named('joined') };
  if (guessed.sources.length + guessed.joins.length > 0) return guessed;
  const others = tables.filter((table) => !isAboutPipeline(table));
  return { sources: [], joins: others.map(({ name }) => name) };
}

/** All tables: sources, then joined tables, then others. */
export function inOrder(
  { sources, joins }: Arrangement,
  tables: readonly TableInfo[],
): readonly TableInfo[] {
  const ranks = new Map([...sources, ...joins].map((name, rank) => [name, rank]));
  const rank = ({ name }: TableInfo): number => ranks.get(name) ?? ranks.size;
  return [...tables].sort((one, other) => rank(one) - rank(other));
}

/** Orders sources by the sides of the joins, left before right; tables have names like sources. */
function bySides(names: readonly string[], tables: readonly TableInfo[]): string[] {
  const sides = tables.flatMap(({ columns }) => sidesOf(columns)).map(({ source }) => source);
  const rank = (name: string): number => {
    const found = sides.findIndex((source) => name === source || name.startsWith(`${source}_`));
    return found < 0 ? sides.length : found;
  };
  return [...names].sort((one, other) => rank(one) - rank(other));
}

function distinct(names: readonly string[] = [], allowed: ReadonlySet<string>): string[] {
  return [...new Set(names)].filter((name) => allowed.has(name));
}
