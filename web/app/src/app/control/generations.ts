import type { Column, ControlChoices, Row } from '@evergrid/client';
import {
  generationParts,
  joinWords,
  type Generation,
  type Pipeline,
  type Progress,
} from '../live/pipeline';
import { millis, text } from './words';

/** A generation as it is listed; times in milliseconds since 1970, 0: none. */
export interface Listed {
  readonly generation: number;
  readonly state: string;
  /** Topics and join types, in words. */
  readonly parts: readonly string[];
  /** The same, by the fields of a message; empty where they are not known. */
  readonly made: Readonly<Record<string, string>>;
  /** Undefined: not known. */
  readonly rows: number | undefined;
  readonly changed: number;
  readonly keptUntil: number;
  readonly progress: Progress | undefined;
  /** How far it is, where no figures are told. */
  readonly words: string;
  readonly error: string;
}

/** Columns that every table of generations has; the others say what each one is made of. */
const FIXED: ReadonlySet<string> = new Set([
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
 * The newest first. The table has those that are gone too, and their rows; the pipeline itself
 * tells how far one is and until when it is kept, and stands in for a table that is not there.
 */
export function listed(
  pipeline: Pipeline | undefined,
  table: { readonly rows: readonly Row[]; readonly columns: readonly Column[] } | undefined,
  choices: ControlChoices | undefined,
): readonly Listed[] {
  const told = new Map(pipeline?.generations.map((one) => [one.generation, one]));
  const ofTable = (table?.rows ?? []).map((row) => {
    const one = fromRow(row, table!.columns);
    const more = told.get(one.generation);
    return more ? { ...one, ...liveParts(more) } : one;
  });
  const known = new Set(ofTable.map(({ generation }) => generation));
  const others = [...told.values()].filter(({ generation }) => !known.has(generation));
  return [...ofTable, ...others.map((one) => fromPipeline(one, choices))].sort(
    (one, other) => other.generation - one.generation,
  );
}

function fromRow(row: Row, columns: readonly Column[]): Listed {
  const made = Object.fromEntries(
    columns
      .filter(({ name }) => !FIXED.has(name))
      .flatMap(({ name }) => (row[name] === null ? [] : [[name, text(row[name])]])),
  ) as Record<string, string>;
  return {
    generation: Number(row['generation']),
    state: text(row['state']),
    parts: partsOf(made),
    made,
    rows: row['rows'] === null ? undefined : Number(row['rows']),
    changed: millis(row['changed'] ?? row['ts']),
    keptUntil: 0,
    progress: undefined,
    words: text(row['progress']),
    error: text(row['lastError']),
  };
}

function fromPipeline(one: Generation, choices: ControlChoices | undefined): Listed {
  const topics = one.sources.map(({ name, topic }) => [name, topic] as const);
  const types = one.joins.map(({ name, type }) => [name, type] as const);
  const fields = new Map(
    [...(choices?.sources ?? []), ...(choices?.joins ?? [])].map(({ name, field }) => [
      name,
      field,
    ]),
  );
  return {
    generation: one.generation,
    parts: generationParts(one),
    made: Object.fromEntries(
      [...topics, ...types].flatMap(([name, value]) => {
        const field = fields.get(name);
        return field ? [[field, value]] : [];
      }),
    ),
    rows: undefined,
    changed: millis(one.changed || one.created),
    words: '',
    ...liveParts(one),
  };
}

function liveParts(one: Generation): Pick<Listed, 'state' | 'keptUntil' | 'progress' | 'error'> {
  return {
    state: one.state,
    keptUntil: millis(one.kept_until ?? 0),
    progress: one.progress ?? undefined,
    error: one.error,
  };
}

/** The fields of join types end so, and those of topics do not; a join's name is before it. */
const TYPE_FIELD = /_?join_?type$/i;

function partsOf(made: Readonly<Record<string, string>>): readonly string[] {
  const several = Object.keys(made).filter((field) => TYPE_FIELD.test(field)).length > 1;
  return Object.entries(made).map(([field, value]) =>
    TYPE_FIELD.test(field)
      ? joinWords({ name: field.replace(TYPE_FIELD, ''), type: value }, several)
      : value,
  );
}
