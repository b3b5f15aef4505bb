import type { Column, Condition, Filter, Row, TableInfo, Value } from '@evergrid/client';
import { kindOf, OFFSET, PARTITION, sidesOf, type Side } from '../live/kinds';
import { currentGeneration, type Join, type Pipeline, type Source } from '../live/pipeline';

/** Where one message is, or was. */
export interface Message {
  readonly source: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: Value;
  /** Microseconds since 1970. */
  readonly ts: Value;
}

/** A message that a row was made from; `message` is undefined where there was none. */
export interface Origin {
  readonly source: string;
  readonly message: Message | undefined;
  /** The table that shows the message as a row of its own, if one is known. */
  readonly table: string | undefined;
  /** The topic whose messages that table shows now, if the pipeline tells. */
  readonly topic: string | undefined;
}

/** What a joined row was made from, left before right. */
export function originsOf(
  row: Row,
  columns: readonly Column[],
  pipeline: Pipeline | undefined,
  tables: readonly TableInfo[],
): readonly Origin[] {
  return sidesOf(columns).map((side) => ({
    source: side.source,
    message: messageOf(row, side),
    table: tableOf(side.source, pipeline, tables),
    topic: plannedSource(side.source, pipeline)?.topic,
  }));
}

/**
 * Whether a message is on another topic than its table shows now. A row at the same place tells
 * by its time, which stays the same; where there is none, the pipeline does.
 */
export function isElsewhere({ message, topic }: Origin, row: Row | undefined): boolean {
  if (!message) return false;
  if (!row) return topic !== undefined && topic !== message.topic;
  return message.ts !== null && row['ts'] !== message.ts;
}

/** The one row that a source's table shows for a message. */
export function messageFilters(partition: Value, offset: Value): readonly Condition[] {
  return [equals(PARTITION, partition), equals(OFFSET, offset)];
}

/** The rows of a joined table that a source's message is part of. */
export function descendantFilters(
  source: string,
  partition: Value,
  offset: Value,
): readonly Condition[] {
  return [equals(`_${source}_partition`, partition), equals(`_${source}_offset`, offset)];
}

/**
 * A filter that the row with this id passes, and few others: an id is made of a row's trace
 * columns, but which of them depends on the join. Undefined if the id is none of such a table.
 */
export function identityFilter(
  id: string,
  columns: readonly Column[],
  join: Join | undefined,
): Filter | undefined {
  const parts = id.split(':');
  const sides = sidesOf(columns);
  if (kindOf({ columns }) === 'quarantine' && parts.length === 3) {
    const topic: Condition = { column: 'topic', op: 'equals', value: parts[0]! };
    return { and: [topic, ...messageFilters(parts[1]!, parts[2]!)] };
  }
  if (kindOf({ columns }) === 'generations') {
    return parts.length === 1 ? equals('generation', id) : undefined;
  }
  if (sides.length === 0) {
    return parts.length === 2 ? { and: messageFilters(parts[0]!, parts[1]!) } : undefined;
  }
  if (parts.length === 2 * sides.length) {
    return { and: sides.flatMap((side, at) => pair(side, parts[2 * at]!, parts[2 * at + 1]!)) };
  }
  if (parts.length !== 2) return undefined;
  const driving = drivingSource(join);
  const candidates = sides.filter(({ source }) => source === driving);
  return {
    or: (candidates.length > 0 ? candidates : sides).map((side) => ({
      and: pair(side, parts[0]!, parts[1]!),
    })),
  };
}

export function joinOf(table: string, pipeline: Pipeline | undefined): Join | undefined {
  return currentGeneration(pipeline)?.joins.find((join) => join.table === table);
}

/**
 * The topic whose messages a source's table shows in a generation; undefined if the pipeline does
 * not tell of that one any more.
 */
export function sourceOf(
  table: string,
  pipeline: Pipeline | undefined,
  generation: number,
): Source | undefined {
  const one = pipeline?.generations.find((it) => it.generation === generation);
  return one?.sources.find((source) => source.table === table);
}

function messageOf(row: Row, side: Side): Message | undefined {
  const [topic, partition, offset] = [row[side.topic], row[side.partition], row[side.offset]];
  if (typeof topic !== 'string' || typeof partition !== 'number') return undefined;
  if (offset === null || offset === undefined) return undefined;
  return { source: side.source, topic, partition, offset, ts: row[side.ts] ?? null };
}

/** The pipeline knows; else a table that is called after its source is probably its own. */
function tableOf(
  source: string,
  pipeline: Pipeline | undefined,
  tables: readonly TableInfo[],
): string | undefined {
  const planned = plannedSource(source, pipeline);
  if (planned) return planned.table;
  const likely = tables.filter(
    (table) =>
      kindOf(table) === 'source' && (table.name === source || table.name.startsWith(`${source}_`)),
  );
  return likely.length === 1 ? likely[0]!.name : undefined;
}

function plannedSource(name: string, pipeline: Pipeline | undefined): Source | undefined {
  return currentGeneration(pipeline)?.sources.find((source) => source.name === name);
}

/** Whose messages give a join its rows; an inner join's are given by both. */
function drivingSource(join: Join | undefined): string | undefined {
  if (join?.type === 'asof') return join.right;
  return join?.type === 'left' ? join.left : undefined;
}

function pair(side: Side, partition: string, offset: string): readonly Condition[] {
  return [equals(side.partition, partition), equals(side.offset, offset)];
}

/** A number where it is exact as one; beyond that a text, which gateways read as well. */
function equals(column: string, position: Value): Condition {
  const number = Number(position);
  return { column, op: 'equals', value: Number.isSafeInteger(number) ? number : String(position) };
}
