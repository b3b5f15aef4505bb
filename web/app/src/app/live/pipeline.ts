/** What the gateway tells of the pipeline behind its tables; times in microseconds since 1970. */

export interface Pipeline {
  readonly state: 'live' | 'gone' | 'unknown';
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
