import type { Pipeline } from '../live/pipeline';
import { moment } from '../words/amounts';
import { sentence } from '../words/sentence';
import type { Judged } from './words';

/** What became of a message, for the one who sent it; undefined: nothing yet. */
export function verdictSentence(
  judged: Judged | undefined,
  pipeline: Pipeline | undefined,
  now: number,
): string {
  if (!judged) {
    return pipeline?.state === 'gone'
      ? 'It is sent. The pipeline does not run now, and reads it when it is back.'
      : 'It is sent. The pipeline has not looked at it yet.';
  }
  return [fate(judged, now), sentence(judged.reason)].filter(Boolean).join(' ');
}

function fate({ verdict, generation, decided }: Judged, now: number): string {
  const number = generation ? `Generation ${generation}` : 'A generation';
  switch (verdict) {
    case 'waiting':
      return 'The pipeline has read it, and begins with it soon.';
    case 'preparing':
      return `${number} is being prepared for it. Tables go on as they are until that is ready.`;
    case 'applied':
      return `Live since ${moment(decided, now)}${generation ? `, as generation ${generation}` : ''}.`;
    case 'superseded':
      return 'A later message took its place.';
    case 'ignored':
      return 'There was nothing to do.';
    case 'invalid':
      return 'This cannot be done, and nothing was changed.';
    case 'failed':
      return `${number} could not be made, and the one before runs on.`;
    default:
      return sentence(verdict);
  }
}
