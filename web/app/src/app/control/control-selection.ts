import type { ControlChoices, ControlMessage } from '@evergrid/client';
import {
  currentGeneration,
  generationParts,
  joinLabel,
  type Generation,
  type Pipeline,
} from '../live/pipeline';

/** What the user selected, by the fields of a control message; other fields: what runs. */
export type ControlSelection = ControlMessage;

/** A field of the form, with its running and its selected value. */
export interface Choice {
  readonly kind: 'topic' | 'type';
  /** The name of the source or the join. */
  readonly name: string;
  readonly field: string;
  /** Empty if nothing runs. */
  readonly running: string;
  readonly chosen: string;
  readonly options: readonly string[];
}

/**
 * All fields of the form. The pipeline is polled more often than the choices, so it has the newer
 * running values.
 */
export function choicesOf(
  { topics, sources, joins, types }: ControlChoices,
  pipeline: Pipeline | undefined,
  selection: ControlSelection,
): readonly Choice[] {
  const current = currentGeneration(pipeline);
  return [
    ...sources.map(({ name, field, topic }): Choice => {
      const running = current?.sources.find((one) => one.name === name)?.topic ?? topic;
      const chosen = selection[field] ?? running;
      const options = [...new Set([...topics, running, chosen])].filter(Boolean).sort();
      return { kind: 'topic', name, field, running, chosen, options };
    }),
    ...joins.map(({ name, field, type }): Choice => {
      const running = current?.joins.find((one) => one.name === name)?.type ?? type;
      return {
        kind: 'type',
        name,
        field,
        running,
        chosen: selection[field] ?? running,
        options: types,
      };
    }),
  ];
}

/**
 * The message for the selection. It has all fields, so that the result is what the form shows,
 * whatever others send meanwhile.
 */
export function messageOf(choices: readonly Choice[]): ControlMessage {
  const set = choices.filter(({ chosen }) => chosen !== '');
  return Object.fromEntries(set.map(({ field, chosen }) => [field, chosen]));
}

/** The selection that has a generation's values; undefined if not all fields are known. */
export function selectionFor(
  values: Readonly<Record<string, string>>,
  choices: readonly Choice[],
): ControlSelection | undefined {
  const fields = choices.map(({ field }) => [field, values[field]] as const);
  if (!fields.length || fields.some(([, value]) => !value)) return undefined;
  return Object.fromEntries(fields as [string, string][]);
}

/** The part of the selection that differs from an applied message. */
export function remainingSelection(
  selection: ControlSelection,
  sent: ControlMessage,
): ControlSelection {
  return Object.fromEntries(
    Object.entries(selection).filter(([field, value]) => sent[field] !== value),
  );
}

/** The submit button. */
export interface SubmitState {
  readonly label: string;
  /** Why it is disabled; empty if it is enabled. */
  readonly reason: string;
  /** What happens on submit. */
  readonly hint: string;
}

export function submitState(
  choices: readonly Choice[],
  coming: Generation | undefined,
): SubmitState {
  const changed = choices.filter(({ chosen, running }) => chosen !== running);
  const label = labelOf(choices, changed, coming);
  const reason = disabledReason(choices, changed, coming);
  if (reason) return { label, reason, hint: '' };
  const hint = coming
    ? `${preparingText(coming)}, which is being prepared, is cancelled.`
    : 'The tables do not change until all new rows are ready.';
  return { label, reason: '', hint };
}

/** The generation with its parts, if the key may read them. */
function preparingText(coming: Generation): string {
  const parts = generationParts(coming).join(', ');
  return `Generation ${coming.generation}${parts && ` (${parts})`}`;
}

function labelOf(
  choices: readonly Choice[],
  changed: readonly Choice[],
  coming: Generation | undefined,
): string {
  if (changed.length) return `Switch to ${choiceLabels(changed, choices).join(', ')}`;
  return coming && runs(choices) ? 'Keep what runs' : 'Switch';
}

function disabledReason(
  choices: readonly Choice[],
  changed: readonly Choice[],
  coming: Generation | undefined,
): string {
  const twice = sharedTopic(choices);
  if (twice) return twice;
  if (coming && hasSelection(coming, choices)) {
    return `Generation ${coming.generation} is already being prepared with these values.`;
  }
  if (changed.length || (coming && runs(choices))) return '';
  return runs(choices)
    ? 'Select another topic or join type: this is what runs.'
    : 'Select a topic or a join type. Nothing runs yet.';
}

function runs(choices: readonly Choice[]): boolean {
  return choices.some(({ running }) => running !== '');
}

/** The selected values as text. */
function choiceLabels(some: readonly Choice[], all: readonly Choice[]): readonly string[] {
  const several = all.filter(({ kind }) => kind === 'type').length > 1;
  return some.map(({ kind, name, chosen }) =>
    kind === 'type' ? joinLabel({ name, type: chosen }, several) : chosen,
  );
}

/** An error if two sources have the same topic. */
function sharedTopic(choices: readonly Choice[]): string {
  const topics = choices.filter(({ kind, chosen }) => kind === 'topic' && chosen !== '');
  for (const one of topics) {
    const other = topics.find(({ name, chosen }) => name !== one.name && chosen === one.chosen);
    if (other)
      return `Duplicate topic: ${one.name} and ${other.name} would both read ${one.chosen}.`;
  }
  return '';
}

/** Whether a generation has exactly the selected values. */
function hasSelection(generation: Generation, choices: readonly Choice[]): boolean {
  return choices.every(({ kind, name, chosen }) =>
    kind === 'topic'
      ? generation.sources.find((one) => one.name === name)?.topic === chosen
      : generation.joins.find((one) => one.name === name)?.type === chosen,
  );
}
