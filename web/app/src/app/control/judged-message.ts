import type { Row, Value } from '@evergrid/client';
import { moment } from '../format/amounts';
import { sentence } from '../format/sentence';
import type { Pipeline } from '../live/pipeline';

/** A control message for the list: its fields, or its text if it is not valid. */
export interface MessageText {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly text: string;
}

const MAX_LENGTH = 240;

export function messageText(text: string): MessageText {
  const cut = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = undefined;
  }
  const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
  const entries = isObject ? Object.entries(read as object) : [];
  const plain =
    entries.every(([, value]) => typeof value === 'string') && text.length <= MAX_LENGTH;
  if (!entries.length || !plain) return { fields: [], text: cut };
  return { fields: entries.map(([name, value]) => ({ name, value: String(value) })), text: cut };
}

/** A control message with its verdict; times in milliseconds since 1970, 0: none. */
export interface JudgedMessage {
  readonly id: string;
  readonly message: string;
  readonly verdict: string;
  readonly reason: string;
  readonly generation: number;
  readonly by: string;
  readonly asked: number;
  readonly decided: number;
}

export function judgedMessage(row: Row): JudgedMessage {
  return {
    id: row._id,
    message: text(row['message']),
    verdict: text(row['verdict']),
    reason: text(row['reason']),
    generation: Number(row['generation'] ?? 0),
    by: text(row['by']),
    asked: millis(row['ts']),
    decided: millis(row['decided']),
  };
}

/** The verdict in a row, unless it is from before `since`. */
export function judgedSince(row: Row | undefined, since: number): JudgedMessage | undefined {
  const judged = row && judgedMessage(row);
  return judged && judged.decided >= since ? judged : undefined;
}

/**
 * Whether a message is applied, and the known state of the pipeline is not older than its verdict:
 * verdicts arrive earlier.
 */
export function isApplied(
  { verdict, generation, decided }: JudgedMessage,
  pipeline: Pipeline | undefined,
): boolean {
  if (verdict !== 'applied' && verdict !== 'ignored') return false;
  return !pipeline || pipeline.current === generation || millis(pipeline.beat) >= decided;
}

/** The HTTP query for the time of the newest verdict. */
export const NEWEST_VERDICT = 'columns=decided&order=-decided&limit=1&format=json';

/** The first millisecond after the verdict in that response; 0 if there is none. */
export function afterNewestVerdict(response: {
  rows?: readonly { decided?: string | null }[];
}): number {
  const last = Date.parse(response.rows?.[0]?.decided ?? '');
  return Number.isNaN(last) ? 0 : last + 1;
}

export function text(value: Value | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

/** Microseconds as milliseconds; 0 for none. */
export function millis(value: Value | undefined): number {
  return Number(value ?? 0) / 1000;
}

/** The verdict as text for its sender; undefined: no verdict yet. */
export function verdictText(
  judged: JudgedMessage | undefined,
  pipeline: Pipeline | undefined,
  now: number,
): string {
  if (!judged) {
    return pipeline?.state === 'gone'
      ? 'Sent. The pipeline is not running; it reads the message when it starts.'
      : 'Sent. The pipeline has not read it yet.';
  }
  return [outcome(judged, now), sentence(judged.reason)].filter(Boolean).join(' ');
}

function outcome({ verdict, generation, decided }: JudgedMessage, now: number): string {
  const number = generation ? `Generation ${generation}` : 'A generation';
  switch (verdict) {
    case 'waiting':
      return 'The pipeline has read the message and starts soon.';
    case 'preparing':
      return `${number} is being prepared. The tables do not change until it is ready.`;
    case 'applied':
      return `Live since ${moment(decided, now)}${generation ? `, as generation ${generation}` : ''}.`;
    case 'superseded':
      return 'Superseded by a later message.';
    case 'ignored':
      return 'Ignored: nothing to change.';
    case 'invalid':
      return 'Invalid message; nothing was changed.';
    case 'failed':
      return `${number} failed; the previous one keeps running.`;
    default:
      return sentence(verdict);
  }
}
