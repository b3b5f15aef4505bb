import type { Column, Condition, Filter, Row, TableInfo, Value } from '@evergrid/client';
import { kindOf, OFFSET, PARTITION, sidesOf, type Side } from '../live/table-kinds';
import { currentGeneration, type Join, type Pipeline, type Source } from '../live/pipeline';

/** The position of a message. */
export interface MessagePosition {
  readonly source: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: Value;
  /** Microseconds since 1970. */
  readonly ts: Value;
}

/** A source of a joined row; `message` is undefined if none of its messages matched. */
export interface Origin {
  readonly source: string;
  readonly message: MessagePosition | undefined;
  /** The table of the source, if known. */
  readonly table: string | undefined;
  /** The topic that this table shows now, if known. */
  readonly topic: string | undefined;
}

/** The origins of a joined row, left before right. */
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
    topic: currentSource(side.source, pipeline)?.topic,
  }));
}

/**
 * Whether a message is on another topic than its table shows now. A row at the same position has the
 * same time if it is the same message; without a row, the pipeline's topic decides.
 */
export function isOnOtherTopic({ message, topic }: Origin, row: Row | undefined): boolean {
  if (!message) return false;
  if (!row) return topic !== undefined && topic !== message.topic;
  return message.ts !== null && row['ts'] !== message.ts;
}

/** The filter for a message's row in the source's table. */
export function messageFilters(partition: Value, offset: Value): readonly Condition[] {
  return [equals(PARTITION, partition), equals(OFFSET, offset)];
}

/** The filter for the rows of a joined table that have a source's message. */
export function joinedRowFilters(
  source: string,
  partition: Value,
  offset: Value,
): readonly Condition[] {
  return [equals(`_${source}_partition`, partition), equals(`_${source}_offset`, offset)];
}

/**
 * A filter for the row with this id, and few others: an id consists of trace columns, but of which
 * depends on the join. Undefined if the table cannot have such an id.
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
    return {
      and: sides.flatMap((side, at) => positionFilters(side, parts[2 * at]!, parts[2 * at + 1]!)),
    };
  }
  if (parts.length !== 2) return undefined;
  const driving = drivingSource(join);
  const candidates = sides.filter(({ source }) => source === driving);
  return {
    or: (candidates.length > 0 ? candidates : sides).map((side) => ({
      and: positionFilters(side, parts[0]!, parts[1]!),
    })),
  };
}

export function joinOf(table: string, pipeline: Pipeline | undefined): Join | undefined {
  return currentGeneration(pipeline)?.joins.find((join) => join.table === table);
}

/**
 * The source of a table in a generation; undefined if the pipeline does not report the generation
 * any more.
 */
export function sourceOf(
  table: string,
  pipeline: Pipeline | undefined,
  generation: number,
): Source | undefined {
  const one = pipeline?.generations.find((it) => it.generation === generation);
  return one?.sources.find((source) => source.table === table);
}

function messageOf(row: Row, side: Side): MessagePosition | undefined {
  const [topic, partition, offset] = [row[side.topic], row[side.partition], row[side.offset]];
  if (typeof topic !== 'string' || typeof partition !== 'number') return undefined;
  if (offset === null || offset === undefined) return undefined;
  return { source: side.source, topic, partition, offset, ts: row[side.ts] ?? null };
}

/** From the pipeline; otherwise by the name, if only one table has the source's name as prefix. */
function tableOf(
  source: string,
  pipeline: Pipeline | undefined,
  tables: readonly TableInfo[],
): string | undefined {
  const current = currentSource(source, pipeline);
  if (current) return current.table;
  const candidates = tables.filter(
    (table) =>
      kindOf(table) === 'source' && (table.name === source || table.name.startsWith(`${source}_`)),
  );
  return candidates.length === 1 ? candidates[0]!.name : undefined;
}

function currentSource(name: string, pipeline: Pipeline | undefined): Source | undefined {
  return currentGeneration(pipeline)?.sources.find((source) => source.name === name);
}

/** The source with one row for each message; an inner join has none. */
function drivingSource(join: Join | undefined): string | undefined {
  if (join?.type === 'asof') return join.right;
  return join?.type === 'left' ? join.left : undefined;
}

function positionFilters(side: Side, partition: string, offset: string): readonly Condition[] {
  return [equals(side.partition, partition), equals(side.offset, offset)];
}

/** A number where it is exact, otherwise a string, which the gateway reads too. */
function equals(column: string, position: Value): Condition {
  const number = Number(position);
  return { column, op: 'equals', value: Number.isSafeInteger(number) ? number : String(position) };
}
