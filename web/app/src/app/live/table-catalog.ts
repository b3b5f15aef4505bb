import { computed, DestroyRef, inject, Injectable, signal } from '@angular/core';
import { EvergridError, type TableInfo } from '@evergrid/client';
import { sessionClient } from '../session/session-client';
import { arrange, inOrder } from './table-arrangement';
import { kindOf, type TableKind } from './table-kinds';
import type { Pipeline } from './pipeline';
import { withReadings, type TableHistory } from './table-history';

const POLL_MS = 5000;
const NEVER = Number.POSITIVE_INFINITY;

/**
 * The tables of the gateway, their kinds, and their metrics of the last minutes.
 *
 * One poll serves all users of the catalog: the navigation needs few, the status page one a second.
 * There is no polling while the page is hidden.
 */
@Injectable()
export class TableCatalog {
  readonly #client = sessionClient();
  readonly #tables = signal<readonly TableInfo[]>([]);
  readonly #pipeline = signal<Pipeline | undefined>(undefined);
  readonly #history = signal<TableHistory>(new Map());
  readonly #updatedAt = signal(0);
  readonly #error = signal('');
  /** The intervals that parts of the page ask for. */
  readonly #intervals = new Set<{ readonly everyMs: number }>();
  readonly #destroyed = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #polling = false;
  /** Older gateways do not report their pipeline; they are asked once. */
  #reportsPipeline = true;

  /** Compared by value, so that it changes only with the names. */
  readonly arrangement = computed(() => arrange(this.#pipeline(), this.#tables()), {
    equal: (one, other) => JSON.stringify(one) === JSON.stringify(other),
  });
  /** Sources first, then joined tables. */
  readonly tables = computed(() => inOrder(this.arrangement(), this.#tables()));
  /** Undefined while unknown. */
  readonly pipeline = this.#pipeline.asReadonly();
  readonly history = this.#history.asReadonly();
  /** Time of the last successful poll, milliseconds since 1970; 0: none yet. */
  readonly updatedAt = this.#updatedAt.asReadonly();
  /** Why the last poll failed; empty if it succeeded. */
  readonly error = this.#error.asReadonly();
  /** Names of the tables of these kinds. */
  readonly quarantine = computed(() => this.#named('quarantine'));
  readonly control = computed(() => this.#named('control'));
  readonly generations = computed(() => this.#named('generations'));

  constructor() {
    const visibilityChanged = (): void => this.#schedule(document.hidden ? NEVER : 0);
    document.addEventListener('visibilitychange', visibilityChanged);
    let open = false;
    const stop = this.#client.onStatus(({ phase }) => {
      // After a reconnect, perhaps to another gateway.
      if (phase === 'open' && !open) this.#schedule(0);
      open = phase === 'open';
    });
    inject(DestroyRef).onDestroy(() => {
      stop();
      document.removeEventListener('visibilitychange', visibilityChanged);
      this.#schedule(NEVER);
      this.#destroyed.abort();
    });
    this.#schedule(0);
  }

  /** Polls at least so often, until the returned function is called. */
  pollEvery(everyMs: number): () => void {
    const interval = { everyMs };
    this.#intervals.add(interval);
    this.#schedule(0);
    return () => this.#intervals.delete(interval);
  }

  #named(kind: TableKind): string | undefined {
    return this.#tables().find((table) => kindOf(table) === kind)?.name;
  }

  #schedule(wait: number): void {
    clearTimeout(this.#timer);
    if (wait !== NEVER) this.#timer = setTimeout(() => void this.#poll(), wait);
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    const startedAt = Date.now();
    const { phase, message } = this.#client.status;
    try {
      // Without a connection a request would fail, too.
      if (phase !== 'open') throw new Error(message);
      const [tables, pipeline] = await Promise.all([
        this.#client.tables(this.#destroyed.signal),
        this.#loadPipeline(),
      ]);
      this.#update(tables, pipeline);
    } catch (error) {
      this.#error.set(error instanceof Error ? error.message : 'The gateway did not answer.');
    } finally {
      this.#polling = false;
    }
    if (this.#destroyed.signal.aborted || document.hidden) return;
    const interval = Math.min(POLL_MS, ...[...this.#intervals].map(({ everyMs }) => everyMs));
    this.#schedule(Math.max(0, startedAt + interval - Date.now()));
  }

  #update(tables: readonly TableInfo[], pipeline: Pipeline | undefined): void {
    const now = Date.now();
    this.#tables.set(tables);
    this.#pipeline.set(pipeline);
    this.#history.update((history) => withReadings(history, tables, now));
    this.#updatedAt.set(now);
    this.#error.set('');
  }

  async #loadPipeline(): Promise<Pipeline | undefined> {
    if (!this.#reportsPipeline) return undefined;
    try {
      const response = await this.#client.get('/api/pipeline', this.#destroyed.signal);
      return ((await response.json()) as { pipeline: Pipeline }).pipeline;
    } catch (error) {
      if (!(error instanceof EvergridError)) throw error;
      if (error.code === 'not_found') this.#reportsPipeline = false;
      return this.#reportsPipeline ? this.#pipeline() : undefined;
    }
  }
}
