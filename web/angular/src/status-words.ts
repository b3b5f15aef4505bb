import type { TableStatus } from '@evergrid/client';
import type { IconName } from './icons.js';

export type Tone = 'good' | 'calm' | 'warn' | 'bad';

/** A status in a word or two, with what it looks like. */
export interface StatusWords {
  readonly label: string;
  readonly icon: IconName;
  readonly tone: Tone;
}

/** Whether it is about what was asked, so that asking something else helps. */
export function isAboutQuestion({ state, code }: TableStatus): boolean {
  const said = state === 'refused' || state === 'waiting';
  return said && code !== undefined && QUESTION_CODES.has(code);
}

const QUESTION_CODES: ReadonlySet<string> = new Set([
  'bad_filter',
  'bad_value',
  'bad_order',
  'bad_search',
  'unknown_column',
  'too_large',
]);

export function statusWords(status: TableStatus): StatusWords {
  switch (status.state) {
    case 'live':
      if (status.warning) return { label: 'Live, with gaps', icon: 'live', tone: 'warn' };
      return { label: 'Live', icon: 'live', tone: 'good' };
    case 'connecting':
      return { label: 'Connecting', icon: 'wait', tone: 'calm' };
    case 'loading':
      return { label: `Loading${progress(status)}`, icon: 'wait', tone: 'calm' };
    case 'waiting':
      if (isAboutQuestion(status)) return { label: refusal(status), icon: 'refused', tone: 'bad' };
      return { label: 'No such table', icon: 'wait', tone: 'warn' };
    case 'stale':
      return { label: `Stale${since(status)}`, icon: 'wait', tone: 'warn' };
    case 'reconnecting':
      return { label: `Reconnecting${since(status)}`, icon: 'lost', tone: 'warn' };
    case 'refused':
      return { label: refusal(status), icon: 'refused', tone: 'bad' };
    case 'closed':
      return { label: 'Closed', icon: 'refused', tone: 'calm' };
  }
}

function refusal(status: TableStatus): string {
  if (status.code === 'no_rights') return 'No rights';
  return isAboutQuestion(status) ? 'Not understood' : 'Refused';
}

function progress({ done, total }: TableStatus): string {
  return done !== undefined && total ? ` ${Math.floor((100 * done) / total)}%` : '';
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

function since({ since }: TableStatus): string {
  if (since === undefined) return '';
  const date = new Date(since);
  const today = date.toDateString() === new Date().toDateString();
  return ` since ${today ? '' : `${day.format(date)}, `}${clock.format(date)}`;
}
