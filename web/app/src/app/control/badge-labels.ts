/** The colour of a badge. */
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

/** A verdict of a newer pipeline that this page does not know is its own label. */
export function verdictBadge(verdict: string): Badge {
  return VERDICTS[verdict] ?? { label: verdict, tone: 'calm' };
}

export function stateBadge(state: string): Badge {
  return STATES[state] ?? { label: state, tone: 'calm' };
}
