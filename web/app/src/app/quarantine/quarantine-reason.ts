import type { Condition } from '@evergrid/client';

/**
 * A kind of reasons why messages are in quarantine. The reasons themselves contain fields and values,
 * so that there are too many to count them.
 */
export interface ReasonKind {
  readonly name: string;
  /** What happened. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
  /** The filter for messages of this kind. */
  readonly condition: Condition;
}

const COLUMN = 'reason';

const starts = (value: string): Condition => ({ column: COLUMN, op: 'starts_with', value });
const equals = (value: string): Condition => ({ column: COLUMN, op: 'equals', value });

/** Checked in this order: the texts of the first ones cannot be part of a value. */
export const REASON_KINDS: readonly ReasonKind[] = [
  {
    name: 'Tombstone',
    meaning: 'The message has a key and a null value, which is how Kafka marks a deletion.',
    remedy:
      'Joins never delete rows, so it changes nothing. If deletions matter, send them as a field.',
    condition: equals('tombstone'),
  },
  {
    name: 'Empty',
    meaning: 'The message has no bytes at all.',
    remedy: 'Check the producer: it sends messages without content.',
    condition: equals('empty value'),
  },
  {
    name: 'Too large',
    meaning: 'The message is larger than the configuration allows.',
    remedy: 'Send less in one message, or raise limits.message_bytes.',
    condition: starts('too large: '),
  },
  {
    name: 'Not UTF-8',
    meaning: 'The bytes are not UTF-8, which JSON requires.',
    remedy: 'The producer uses another encoding or another format, such as Avro or Protobuf.',
    condition: equals('not valid UTF-8'),
  },
  {
    name: 'Nested too deep',
    meaning: 'Objects or arrays are nested deeper than the configuration allows.',
    remedy: 'Send flatter messages, or raise limits.nesting.',
    condition: starts('nested deeper than '),
  },
  {
    name: 'No object',
    meaning: 'The message is JSON, but not an object, so it has no fields for columns.',
    remedy: 'Send one object a message: {"field": value}.',
    condition: starts('not a JSON object but '),
  },
  {
    name: 'Field twice',
    meaning: 'A field name occurs twice in one object, so its value is ambiguous.',
    remedy: 'Change the producer to write each name once.',
    condition: starts('duplicate field name'),
  },
  {
    name: 'Broken JSON',
    meaning:
      'The text is not valid JSON, for example because of a trailing comma, a comment or truncation.',
    remedy: 'Check the raw text, and use a JSON library in the producer.',
    condition: equals('not valid JSON'),
  },
  {
    name: 'No time',
    meaning: "The field with the message's time has no value.",
    remedy: "Change the producer to set it, or configure the source to use Kafka's timestamp.",
    condition: starts('no time: '),
  },
  {
    name: 'Wrong value',
    meaning: 'A field has a value that does not fit its type.',
    remedy: 'Correct the producer, or configure another type for the field.',
    condition: { column: COLUMN, op: 'contains', value: ": '" },
  },
];

const OTHER: ReasonKind = {
  name: 'Other',
  meaning: 'This page does not know this reason.',
  remedy: 'Check the reason and the raw text.',
  condition: { column: COLUMN, op: 'not_null' },
};

export function reasonKind(reason: string): ReasonKind {
  return REASON_KINDS.find(({ condition }) => holds(condition, reason)) ?? OTHER;
}

function holds({ op, value }: Condition, reason: string): boolean {
  const text = String(value);
  if (op === 'equals') return reason === text;
  return op === 'starts_with' ? reason.startsWith(text) : reason.includes(text);
}

export interface Tally<Thing> {
  readonly thing: Thing;
  readonly count: number;
}

/** How often each thing occurs, the most frequent first. */
export function tally<Thing>(things: Iterable<Thing>): readonly Tally<Thing>[] {
  const counts = new Map<Thing, number>();
  for (const thing of things) counts.set(thing, (counts.get(thing) ?? 0) + 1);
  return [...counts]
    .map(([thing, count]) => ({ thing, count }))
    .sort((one, other) => other.count - one.count);
}
