import type { Row, Value } from '@evergrid/client';
import type { Pipeline } from '../live/pipeline';

/** How good or bad something is, for its colour. */
export type Tone = 'good' | 'busy' | 'calm' | 'bad';

export interface Badge {
  readonly label: string;
  readonly tone: Tone;
}

const VERDICTS: Readonly<Record<string, Badge>> = {
  waiting: { label: 'Waiting', tone: 'busy' },
  preparing: { label: 'Preparing', tone: 'busy' },
  applied: { label: 'Applied', tone: 'good' },
  superseded: { label: 'Superseded', tone: 'calm' },
  ignored: { label: 'Ignored', tone: 'calm' },
  invalid: { label: 'Invalid', tone: 'bad' },
  failed: { label: 'Failed', tone: 'bad' },
};

const STATES: Readonly<Record<string, Badge>> = {
  preparing: { label: 'Preparing', tone: 'busy' },
  ready: { label: 'Ready', tone: 'busy' },
  current: { label: 'Current', tone: 'good' },
  retiring: { label: 'Replaced', tone: 'calm' },
  gone: { label: 'Gone', tone: 'calm' },
  failed: { label: 'Failed', tone: 'bad' },
};

/** A newer pipeline may have words that this page does not know: then they stand for themselves. */
export function verdictBadge(verdict: string): Badge {
  return VERDICTS[verdict] ?? { label: verdict, tone: 'calm' };
}

export function stateBadge(state: string): Badge {
  return STATES[state] ?? { label: state, tone: 'calm' };
}

/** A control message as it is listed: its fields, or its text where it has none. */
export interface MessageShown {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly text: string;
}

const LONGEST = 240;

export function messageShown(text: string): MessageShown {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    read = undefined;
  }
  const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
  const entries = isObject ? Object.entries(read as object) : [];
  const plain = entries.every(([, value]) => typeof value === 'string') && text.length <= LONGEST;
  if (!entries.length || !plain) return { fields: [], text: cut };
  return { fields: entries.map(([name, value]) => ({ name, value: String(value) })), text: cut };
}

/** A row of the table of control messages; times in milliseconds since 1970, 0: none. */
export interface Judged {
  readonly id: string;
  readonly message: string;
  readonly verdict: string;
  readonly reason: string;
  readonly generation: number;
  readonly by: string;
  readonly asked: number;
  readonly decided: number;
}

export function judgedOf(row: Row): Judged {
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

/** The row with a message's verdict, unless it is one from before the message was sent. */
export function judgedSince(row: Row | undefined, since: number): Judged | undefined {
  const judged = row && judgedOf(row);
  return judged && judged.decided >= since ? judged : undefined;
}

/**
 * Whether what a message asked for runs, or has run, and the pipeline that is told of is not one
 * from before that: verdicts come sooner than it does.
 */
export function hasComeTrue(
  { verdict, generation, decided }: Judged,
  pipeline: Pipeline | undefined,
): boolean {
  if (verdict !== 'applied' && verdict !== 'ignored') return false;
  return !pipeline || pipeline.current === generation || millis(pipeline.beat) >= decided;
}

/** What to ask the table of control messages for, to know when the last verdict was given. */
export const NEWEST_VERDICT = 'columns=decided&order=-decided&limit=1&format=json';

/** The first millisecond after the verdict in that answer; 0 when there is none. */
export function afterAll(answer: { rows?: readonly { decided?: string | null }[] }): number {
  const last = Date.parse(answer.rows?.[0]?.decided ?? '');
  return Number.isNaN(last) ? 0 : last + 1;
}

export function text(value: Value | undefined): string {
  return value === null || value === undefined ? '' : String(value);
}

/** Microseconds as milliseconds; 0 for none. */
export function millis(value: Value | undefined): number {
  return Number(value ?? 0) / 1000;
}
