import { count } from '../words/amounts';

/** What the gateway tells of the pipeline behind its tables; times in microseconds since 1970. */

export interface Pipeline {
  readonly state: 'live' | 'behind' | 'gone' | 'unknown';
  /** A sentence for people. */
  readonly message: string;
  /** When the pipeline last gave a sign of life; 0: never. */
  readonly beat: number;
  /** The number of the generation that is shown; 0: none. */
  readonly current: number;
  readonly generations: readonly Generation[];
}

export interface Generation {
  readonly generation: number;
  readonly state: string;
  readonly created: number;
  readonly changed: number;
  /** When one that was replaced goes at the latest; 0: no such time. */
  readonly kept_until?: number;
  /** While it is prepared. */
  readonly progress?: Progress | null;
  /** A sentence; empty when all is well. */
  readonly error: string;
  readonly sources: readonly Source[];
  readonly joins: readonly Join[];
  readonly tables: readonly string[];
}

export interface Progress {
  readonly step: string;
  readonly done: number;
  readonly total: number;
}

export interface Source {
  readonly name: string;
  readonly topic: string;
  readonly table: string;
}

export interface Join {
  readonly name: string;
  readonly type: string;
  readonly table: string;
  /** Names of sources; empty for one that our key may not read. */
  readonly left: string;
  readonly right: string;
}

export function currentGeneration(pipeline: Pipeline | undefined): Generation | undefined {
  return pipeline?.generations.find(({ generation }) => generation === pipeline.current);
}

/** The generation that is on its way to the screens, if there is one. */
export function comingGeneration(pipeline: Pipeline | undefined): Generation | undefined {
  return pipeline?.generations.find(({ state }) => state === 'preparing' || state === 'ready');
}

/** How far a preparation is, in a sentence without its point. */
export function progressWords({ step, done, total }: Progress): string {
  const words = step.charAt(0).toUpperCase() + step.slice(1);
  return total > 0 ? `${words}: ${count(done)} of ${count(total)} (${share(done, total)})` : words;
}

/** `42%`; what is not done yet is never all of it. */
export function share(done: number, total: number): string {
  return `${Math.floor((100 * Math.min(done, total)) / Math.max(total, 1))}%`;
}

/** A join's type as people call it. */
export function typeWords(type: string): string {
  return type === 'asof' ? 'as-of' : type;
}

/** Joins by their types; where there are several, a name tells which one is meant. */
export function joinWords({ name, type }: Pick<Join, 'name' | 'type'>, several: boolean): string {
  const words = `${typeWords(type)} join`;
  return several ? `${name}: ${words}` : words;
}

/** What a generation is made of: its topics and joins, in words. */
export function generationParts({ sources, joins }: Generation): readonly string[] {
  const several = joins.length > 1;
  return [...sources.map(({ topic }) => topic), ...joins.map((join) => joinWords(join, several))];
}

/** The sources of a join; a key for some tables alone does not learn the names of others. */
export function joinedSources({ left, right }: Join): [left: string, right: string] {
  return [left || 'another source', right || 'another source'];
}

/** What a join does, in words of the ones who look at its table. */
export function joinSentence(join: Join): string {
  const { type } = join;
  const [left, right] = joinedSources(join);
  switch (type) {
    case 'left':
      return `Each message of ${left}, with the latest one of ${right} that has the same key.`;
    case 'asof':
      return `Each message of ${right}, with the one of ${left} that was the latest at its time.`;
    case 'inner':
      return `Each pair of messages of ${left} and ${right} with the same key.`;
    default:
      return `${left} and ${right}, joined.`;
  }
}
