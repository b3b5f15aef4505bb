import type { ControlChoices, ControlMessage } from '@evergrid/client';
import {
  currentGeneration,
  generationParts,
  joinWords,
  type Generation,
  type Pipeline,
} from '../live/pipeline';

/** What somebody chose in the form, by the fields of a message; what is not there: what runs. */
export type Wish = ControlMessage;

/** One thing that can be chosen, with what runs and what is chosen. */
export interface Choice {
  readonly kind: 'topic' | 'type';
  /** Of the source or the join. */
  readonly name: string;
  readonly field: string;
  /** Empty: nothing runs. */
  readonly running: string;
  readonly chosen: string;
  readonly options: readonly string[];
}

/**
 * All that can be chosen. What runs now the pipeline tells sooner than the choices, which are
 * asked for now and then.
 */
export function choicesOf(
  { topics, sources, joins, types }: ControlChoices,
  pipeline: Pipeline | undefined,
  wish: Wish,
): readonly Choice[] {
  const current = currentGeneration(pipeline);
  return [
    ...sources.map(({ name, field, topic }): Choice => {
      const running = current?.sources.find((one) => one.name === name)?.topic ?? topic;
      const chosen = wish[field] ?? running;
      const options = [...new Set([...topics, running, chosen])].filter(Boolean).sort();
      return { kind: 'topic', name, field, running, chosen, options };
    }),
    ...joins.map(({ name, field, type }): Choice => {
      const running = current?.joins.find((one) => one.name === name)?.type ?? type;
      return { kind: 'type', name, field, running, chosen: wish[field] ?? running, options: types };
    }),
  ];
}

/**
 * The message for what is chosen. It names everything, so that what comes is what the form shows,
 * whatever others have asked for meanwhile.
 */
export function messageOf(choices: readonly Choice[]): ControlMessage {
  const said = choices.filter(({ chosen }) => chosen !== '');
  return Object.fromEntries(said.map(({ field, chosen }) => [field, chosen]));
}

/** The same choices as a generation was made of, as far as they can still be chosen. */
export function wishFor(
  made: Readonly<Record<string, string>>,
  choices: readonly Choice[],
): Wish | undefined {
  const fields = choices.map(({ field }) => [field, made[field]] as const);
  if (!fields.length || fields.some(([, value]) => !value)) return undefined;
  return Object.fromEntries(fields as [string, string][]);
}

/** What is still wished for when a message has come true: what was chosen since. */
export function stillWished(wish: Wish, sent: ControlMessage): Wish {
  return Object.fromEntries(Object.entries(wish).filter(([field, value]) => sent[field] !== value));
}

/** What pressing the button does, and why it cannot be pressed; empty when it can. */
export interface Offer {
  readonly label: string;
  readonly why: string;
  /** What there is to know before. */
  readonly hint: string;
}

export function offerOf(choices: readonly Choice[], coming: Generation | undefined): Offer {
  const changed = choices.filter(({ chosen, running }) => chosen !== running);
  const label = labelOf(choices, changed, coming);
  const why = whyNot(choices, changed, coming);
  if (why) return { label, why, hint: '' };
  const hint = coming
    ? `${comingWords(coming)}, being prepared, is called off.`
    : 'Tables go on as they are until the new rows are all there.';
  return { label, why: '', hint };
}

/** With what it is made of: somebody else may have asked for it. A key may not learn any of it. */
function comingWords(coming: Generation): string {
  const parts = generationParts(coming).join(', ');
  return `Generation ${coming.generation}${parts && ` (${parts})`}`;
}

function labelOf(
  choices: readonly Choice[],
  changed: readonly Choice[],
  coming: Generation | undefined,
): string {
  if (changed.length) return `Switch to ${choiceWords(changed, choices).join(', ')}`;
  return coming && runs(choices) ? 'Keep what runs' : 'Switch';
}

function whyNot(
  choices: readonly Choice[],
  changed: readonly Choice[],
  coming: Generation | undefined,
): string {
  const twice = sharedTopic(choices);
  if (twice) return twice;
  if (coming && isOf(coming, choices)) {
    return `Generation ${coming.generation} is being prepared for just that.`;
  }
  if (changed.length || (coming && runs(choices))) return '';
  return runs(choices)
    ? 'Choose another topic or join type: this is what runs.'
    : 'Choose a topic or a join type. Nothing runs yet.';
}

function runs(choices: readonly Choice[]): boolean {
  return choices.some(({ running }) => running !== '');
}

/** Some choices in words, of all that there are. */
function choiceWords(some: readonly Choice[], all: readonly Choice[]): readonly string[] {
  const several = all.filter(({ kind }) => kind === 'type').length > 1;
  return some.map(({ kind, name, chosen }) =>
    kind === 'type' ? joinWords({ name, type: chosen }, several) : chosen,
  );
}

/** Why no pipeline can be made of it: each source needs a topic of its own. */
function sharedTopic(choices: readonly Choice[]): string {
  const topics = choices.filter(({ kind, chosen }) => kind === 'topic' && chosen !== '');
  for (const one of topics) {
    const other = topics.find(({ name, chosen }) => name !== one.name && chosen === one.chosen);
    if (other) return `${one.name} and ${other.name} would both read ${one.chosen}.`;
  }
  return '';
}

/** Whether a generation is made of just what is chosen; not if it does not tell. */
function isOf(generation: Generation, choices: readonly Choice[]): boolean {
  return choices.every(({ kind, name, chosen }) =>
    kind === 'topic'
      ? generation.sources.find((one) => one.name === name)?.topic === chosen
      : generation.joins.find((one) => one.name === name)?.type === chosen,
  );
}
