import type { TableStatus } from '@evergrid/client';
import type { IconName } from '../icon/icon.js';

export type Tone = 'good' | 'calm' | 'warn' | 'bad';

/** A status in one or two words, with icon and colour. */
export interface StatusLabel {
  readonly text: string;
  readonly icon: IconName;
  readonly tone: Tone;
}

/** Whether the error is in the query, so that another query would work. */
export function isQueryError({ state, code }: TableStatus): boolean {
  const isError = state === 'refused' || state === 'waiting';
  return isError && code !== undefined && QUERY_ERRORS.has(code);
}

const QUERY_ERRORS: ReadonlySet<string> = new Set([
  'bad_filter',
  'bad_value',
  'bad_order',
  'bad_search',
  'unknown_column',
  'too_large',
]);

export function statusLabel(status: TableStatus): StatusLabel {
  switch (status.state) {
    case 'live':
      if (status.warning) return { text: 'Live, with gaps', icon: 'live', tone: 'warn' };
      return { text: 'Live', icon: 'live', tone: 'good' };
    case 'connecting':
      return { text: 'Connecting', icon: 'wait', tone: 'calm' };
    case 'loading':
      return { text: `Loading${progress(status)}`, icon: 'wait', tone: 'calm' };
    case 'waiting':
      if (isQueryError(status)) return { text: refusalText(status), icon: 'refused', tone: 'bad' };
      return { text: 'No such table', icon: 'wait', tone: 'warn' };
    case 'stale':
      return { text: `Stale${since(status)}`, icon: 'wait', tone: 'warn' };
    case 'reconnecting':
      return { text: `Reconnecting${since(status)}`, icon: 'lost', tone: 'warn' };
    case 'refused':
      return { text: refusalText(status), icon: 'refused', tone: 'bad' };
    case 'closed':
      return { text: 'Closed', icon: 'refused', tone: 'calm' };
  }
}

function refusalText(status: TableStatus): string {
  if (status.code === 'no_rights') return 'No rights';
  return isQueryError(status) ? 'Not understood' : 'Refused';
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
