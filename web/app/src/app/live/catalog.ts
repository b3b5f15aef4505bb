import { computed, DestroyRef, inject, Injectable, signal } from '@angular/core';
import { EvergridError, type TableInfo } from '@evergrid/client';
import { sessionClient } from '../session/client';
import { arrange, inOrder } from './arrangement';
import { kindOf, type TableKind } from './kinds';
import type { Pipeline } from './pipeline';
import { recorded, type TableRecord } from './record';

const PACE_MS = 5000;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * Which tables there are, what they are for and how they were in the last minutes.
 *
 * One look at the gateway serves everybody: the navigation is content with one now and then, the
 * status page wants one a second. Nobody looks while the page is hidden.
 */
@Injectable()
export class Catalog {
  readonly #client = sessionClient();
  readonly #tables = signal<readonly TableInfo[]>([]);
  readonly #pipeline = signal<Pipeline | undefined>(undefined);
  readonly #record = signal<TableRecord>(new Map());
  readonly #taken = signal(0);
  readonly #problem = signal('');
  /** Each its own, however many want the same. */
  readonly #hurries = new Set<{ readonly everyMs: number }>();
  readonly #ended = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #looking = false;
  /** Older gateways do not tell of their pipeline; asking them once is enough. */
  #tells = true;

  /** The same names in the same order are the same arrangement. */
  readonly arrangement = computed(() => arrange(this.#pipeline(), this.#tables()), {
    equal: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  /** Sources first, then what is made of them. */
  readonly tables = computed(() => inOrder(this.arrangement(), this.#tables()));
  /** Undefined while not known. */
  readonly pipeline = this.#pipeline.asReadonly();
  readonly record = this.#record.asReadonly();
  /** When the gateway last told, milliseconds since 1970; 0: not yet. */
  readonly taken = this.#taken.asReadonly();
  /** Why the last look failed; empty when it did not. */
  readonly problem = this.#problem.asReadonly();
  /** Names of tables that one has no other name for than what they are. */
  readonly quarantine = computed(() => this.#named('quarantine'));
  readonly control = computed(() => this.#named('control'));
  readonly generations = computed(() => this.#named('generations'));

  constructor() {
    const seen = (): void => this.#soon(document.hidden ? NEVER : 0);
    document.addEventListener('visibilitychange', seen);
    let open = false;
    const stop = this.#client.onStatus(({ phase }) => {
      // Perhaps another gateway, and surely news.
      if (phase === 'open' && !open) this.#soon(0);
      open = phase === 'open';
    });
    inject(DestroyRef).onDestroy(() => {
      stop();
      document.removeEventListener('visibilitychange', seen);
      this.#soon(NEVER);
      this.#ended.abort();
    });
    this.#soon(0);
  }

  /** Looks at least so often, until what it gives back is called. */
  hurry(everyMs: number): () => void {
    const hurry = { everyMs };
    this.#hurries.add(hurry);
    this.#soon(0);
    return () => this.#hurries.delete(hurry);
  }

  #named(kind: TableKind): string | undefined {
    return this.#tables().find((table) => kindOf(table) === kind)?.name;
  }

  #soon(wait: number): void {
    clearTimeout(this.#timer);
    if (wait !== NEVER) this.#timer = setTimeout(() => void this.#look(), wait);
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    const began = Date.now();
    const { phase, message } = this.#client.status;
    try {
      // The connection knows already that nobody would answer.
      if (phase !== 'open') throw new Error(message);
      const [tables, pipeline] = await Promise.all([
        this.#client.tables(this.#ended.signal),
        this.#askPipeline(),
      ]);
      this.#note(tables, pipeline);
    } catch (error) {
      this.#problem.set(error instanceof Error ? error.message : 'The gateway did not answer.');
    } finally {
      this.#looking = false;
    }
    if (this.#ended.signal.aborted || document.hidden) return;
    const pace = Math.min(PACE_MS, ...[...this.#hurries].map(({ everyMs }) => everyMs));
    this.#soon(Math.max(0, began + pace - Date.now()));
  }

  #note(tables: readonly TableInfo[], pipeline: Pipeline | undefined): void {
    const now = Date.now();
    this.#tables.set(tables);
    this.#pipeline.set(pipeline);
    this.#record.update((record) => recorded(record, tables, now));
    this.#taken.set(now);
    this.#problem.set('');
  }

  async #askPipeline(): Promise<Pipeline | undefined> {
    if (!this.#tells) return undefined;
    try {
      const answer = await this.#client.get('/api/pipeline', this.#ended.signal);
      return ((await answer.json()) as { pipeline: Pipeline }).pipeline;
    } catch (error) {
      if (!(error instanceof EvergridError)) throw error;
      if (error.code === 'not_found') this.#tells = false;
      return this.#tells ? this.#pipeline() : undefined;
    }
  }
}
