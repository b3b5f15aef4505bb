import type { Condition } from '@evergrid/client';

/**
 * Why messages are in quarantine, in kinds that a person can count and act on. A reason's own
 * words name fields and values, so there are as many as there are bad messages.
 */
export interface ReasonKind {
  readonly name: string;
  /** What happened. */
  readonly meaning: string;
  /** What to do about it. */
  readonly remedy: string;
  /** Finds the messages of this kind in the quarantine's table. */
  readonly condition: Condition;
}

const COLUMN = 'reason';

const starts = (value: string): Condition => ({ column: COLUMN, op: 'starts_with', value });
const equals = (value: string): Condition => ({ column: COLUMN, op: 'equals', value });

/** In the order in which they are tried: the words of the first ones cannot be part of a value. */
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
    remedy: 'Look at who writes to the topic: it sends something that was never filled.',
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
    meaning: 'The bytes are no text: JSON is always UTF-8.',
    remedy: 'The sender uses another encoding or another format, such as Avro or Protobuf.',
    condition: equals('not valid UTF-8'),
  },
  {
    name: 'Nested too deep',
    meaning: 'Brackets are inside brackets for more levels than the configuration allows.',
    remedy: 'Send flatter messages, or raise limits.nesting.',
    condition: starts('nested deeper than '),
  },
  {
    name: 'No object',
    meaning: 'It is JSON, but not an object with fields, so it has nothing to fill columns with.',
    remedy: 'Send one object a message: {"field": value}.',
    condition: starts('not a JSON object but '),
  },
  {
    name: 'Field twice',
    meaning: 'A name occurs twice in one object, and which of the two counts would be a guess.',
    remedy: 'Let the sender write each name once.',
    condition: starts('duplicate field name'),
  },
  {
    name: 'Broken JSON',
    meaning: 'The text is not JSON: a comma too many, a comment, a text that was cut.',
    remedy: 'Look at the raw text, and let the sender write it with a JSON library.',
    condition: equals('not valid JSON'),
  },
  {
    name: 'No time',
    meaning: "The field that gives the message's time has no value.",
    remedy: "Let the sender fill it, or let the source's time be that of Kafka.",
    condition: starts('no time: '),
  },
  {
    name: 'Wrong value',
    meaning: 'A field has a value that does not fit its type.',
    remedy: "Correct the sender, or give the field another type in the source's fields.",
    condition: { column: COLUMN, op: 'contains', value: ": '" },
  },
];

const OTHER: ReasonKind = {
  name: 'Other',
  meaning: 'This page does not know this reason; it is in its own words above.',
  remedy: 'Read the reason, and look at the raw text.',
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
