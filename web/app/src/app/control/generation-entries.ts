import type { Column, ControlChoices, Row } from '@evergrid/client';
import {
  generationParts,
  joinLabel,
  type Generation,
  type Pipeline,
  type Progress,
} from '../live/pipeline';
import { millis, text } from './judged-message';

/** A generation in the list; times in milliseconds since 1970, 0: none. */
export interface GenerationEntry {
  readonly generation: number;
  readonly state: string;
  /** Topics and join types as text. */
  readonly parts: readonly string[];
  /** The same, by the fields of a control message; empty if unknown. */
  readonly fields: Readonly<Record<string, string>>;
  /** Undefined: unknown. */
  readonly rows: number | undefined;
  readonly changed: number;
  readonly keptUntil: number;
  readonly progress: Progress | undefined;
  /** The progress as text, if there are no numbers. */
  readonly progressText: string;
  readonly error: string;
}

/** Columns that every table of generations has; the others are topics and join types. */
const COMMON_COLUMNS: ReadonlySet<string> = new Set([
  'generation',
  'state',
  'rows',
  'progress',
  'lastApplied',
  'lastError',
  'changed',
  'ts',
]);

/**
 * The newest first. The table also has removed generations and row counts; the pipeline has progress
 * and retention times, and replaces a table that does not exist.
 */
export function generationEntries(
  pipeline: Pipeline | undefined,
  table: { readonly rows: readonly Row[]; readonly columns: readonly Column[] } | undefined,
  choices: ControlChoices | undefined,
): readonly GenerationEntry[] {
  const reported = new Map(pipeline?.generations.map((one) => [one.generation, one]));
  const ofTable = (table?.rows ?? []).map((row) => {
    const one = fromRow(row, table!.columns);
    const more = reported.get(one.generation);
    return more ? { ...one, ...liveParts(more) } : one;
  });
  const known = new Set(ofTable.map(({ generation }) => generation));
  const others = [...reported.values()].filter(({ generation }) => !known.has(generation));
  return [...ofTable, ...others.map((one) => fromPipeline(one, choices))].sort(
    (one, other) => other.generation - one.generation,
  );
}

function fromRow(row: Row, columns: readonly Column[]): GenerationEntry {
  const fields = Object.fromEntries(
    columns
      .filter(({ name }) => !COMMON_COLUMNS.has(name))
      .flatMap(({ name }) => (row[name] === null ? [] : [[name, text(row[name])]])),
  ) as Record<string, string>;
  return {
    generation: Number(row['generation']),
    state: text(row['state']),
    parts: partsOf(fields),
    fields,
    rows: row['rows'] === null ? undefined : Number(row['rows']),
    changed: millis(row['changed'] ?? row['ts']),
    keptUntil: 0,
    progress: undefined,
    progressText: text(row['progress']),
    error: text(row['lastError']),
  };
}

function fromPipeline(one: Generation, choices: ControlChoices | undefined): GenerationEntry {
  const topics = one.sources.map(({ name, topic }) => [name, topic] as const);
  const types = one.joins.map(({ name, type }) => [name, type] as const);
  const fieldNames = new Map(
    [...(choices?.sources ?? []), ...(choices?.joins ?? [])].map(({ name, field }) => [
      name,
      field,
    ]),
  );
  return {
    generation: one.generation,
    parts: generationParts(one),
    fields: Object.fromEntries(
      [...topics, ...types].flatMap(([name, value]) => {
        const field = fieldNames.get(name);
        return field ? [[field, value]] : [];
      }),
    ),
    rows: undefined,
    changed: millis(one.changed || one.created),
    progressText: '',
    ...liveParts(one),
  };
}

function liveParts(
  one: Generation,
): Pick<GenerationEntry, 'state' | 'keptUntil' | 'progress' | 'error'> {
  return {
    state: one.state,
    keptUntil: millis(one.kept_until ?? 0),
    progress: one.progress ?? undefined,
    error: one.error,
  };
}

/** Fields of join types end like this, after the join's name; fields of topics do not. */
const TYPE_FIELD = /_?join_?type$/i;

function partsOf(fields: Readonly<Record<string, string>>): readonly string[] {
  const several = Object.keys(fields).filter((field) => TYPE_FIELD.test(field)).length > 1;
  return Object.entries(fields).map(([field, value]) =>
    TYPE_FIELD.test(field)
      ? joinLabel({ name: field.replace(TYPE_FIELD, ''), type: value }, several)
      : value,
  );
}
