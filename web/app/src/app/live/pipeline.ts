import { count } from '../format/amounts';

/** The pipeline as in `/api/pipeline`; times in microseconds since 1970. */

export interface Pipeline {
  readonly state: 'live' | 'behind' | 'gone' | 'unknown';
  /** A message for the user. */
  readonly message: string;
  /** Time of the pipeline's last heartbeat; 0: never. */
  readonly beat: number;
  /** The number of the current generation; 0: none. */
  readonly current: number;
  readonly generations: readonly Generation[];
}

export interface Generation {
  readonly generation: number;
  readonly state: string;
  readonly created: number;
  readonly changed: number;
  /** When a replaced generation is deleted; 0: no such time. */
  readonly kept_until?: number;
  /** During its preparation. */
  readonly progress?: Progress | null;
  /** Empty if there is no error. */
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
  /** Names of sources; empty if the key may not read them. */
  readonly left: string;
  readonly right: string;
}

export function currentGeneration(pipeline: Pipeline | undefined): Generation | undefined {
  return pipeline?.generations.find(({ generation }) => generation === pipeline.current);
}

/** The generation in preparation, if there is one. */
export function preparingGeneration(pipeline: Pipeline | undefined): Generation | undefined {
  return pipeline?.generations.find(({ state }) => state === 'preparing' || state === 'ready');
}

/** The progress of a preparation as text. */
export function progressText({ step, done, total }: Progress): string {
  const name = step.charAt(0).toUpperCase() + step.slice(1);
  return total > 0 ? `${name}: ${count(done)} of ${count(total)} (${share(done, total)})` : name;
}

/** `42%`; rounded down, so that 100% means complete. */
export function share(done: number, total: number): string {
  return `${Math.floor((100 * Math.min(done, total)) / Math.max(total, 1))}%`;
}

/** The name of a join type. */
export function joinTypeLabel(type: string): string {
  return type === 'asof' ? 'as-of' : type;
}

/** A join by its type; with its name if there are several. */
export function joinLabel({ name, type }: Pick<Join, 'name' | 'type'>, several: boolean): string {
  const label = `${joinTypeLabel(type)} join`;
  return several ? `${name}: ${label}` : label;
}

/** The topics and joins of a generation as text. */
export function generationParts({ sources, joins }: Generation): readonly string[] {
  const several = joins.length > 1;
  return [...sources.map(({ topic }) => topic), ...joins.map((join) => joinLabel(join, several))];
}

/** The sources of a join; the key may not be allowed to read their names. */
export function joinedSources({ left, right }: Join): [left: string, right: string] {
  return [left || 'another source', right || 'another source'];
}

/** What a join does, for the users of its table. */
export function joinDescription(join: Join): string {
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
