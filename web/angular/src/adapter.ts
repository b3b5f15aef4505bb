import { computed, signal, type Signal } from '@angular/core';
import type { Client, Column, Snapshot, TableStatus, TableSubscription } from '@evergrid/client';
import { sameColumns } from './arranger.js';
import {
  isPossible,
  lapseSentence,
  lapsesOf,
  withLapses,
  withoutLapses,
  type Lapse,
} from './lapse.js';
import type { Look, LookChange } from './look.js';
import { isAboutQuestion } from './status-words.js';

/** The columns of another generation may be a moment behind the word that it cannot answer. */
const PATIENCE_MS = 2000;

const ADAPTING: TableStatus = {
  state: 'loading',
  message: 'The table has other columns now. The rows are on their way.',
};

export interface Source {
  readonly client: Client;
  readonly table: string;
}

export interface AdapterHost {
  readonly look: Signal<Look>;
  readonly columns: Signal<readonly Column[]>;
  readonly status: { set(status: TableStatus): void };
  change(change: LookChange): void;
}

/**
 * Makes a look fit a table that has other columns than before: what cannot be asked of it any
 * more is taken out and said, so that the rest goes on. It comes back only if somebody wants it.
 *
 * Which columns there are is learnt from a window that asks for nothing else.
 */
export class Adapter {
  private readonly lapses = signal<readonly Lapse[]>([]);
  /** The columns as they were last heard of, which may be before there are rows of them. */
  readonly heard = signal<readonly Column[]>([], { equal: sameColumns });
  private readonly possible = computed(() =>
    this.lapses().filter((lapse) => isPossible(lapse, this.heard())),
  );
  /** What was taken out, and why; empty when nothing was. */
  readonly sentence = computed(() => {
    const possible = this.possible();
    const others = this.lapses().filter((lapse) => !possible.includes(lapse));
    return lapseSentence(others, this.heard());
  });
  /** What could be asked again, in words; empty when nothing could. */
  readonly offer = computed(() =>
    this.possible()
      .map(({ words }) => words)
      .join('; '),
  );
  private window: TableSubscription | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pending: TableStatus | undefined;

  constructor(private readonly host: AdapterHost) {}

  /**
   * How the rows of the source are. `answered`: the same question was answered before, so if it is
   * wrong now the table has changed, and its new columns come if they have not yet.
   */
  told(status: TableStatus, answered: boolean, source: Source | undefined): void {
    if (!source || !isAboutQuestion(status)) {
      this.end();
      this.host.status.set(status);
      return;
    }
    this.pending = status;
    if (this.window) return;
    if (answered) this.host.status.set(ADAPTING);
    this.window = source.client.subscribe(source.table, { limit: 1 });
    this.timer = setTimeout(() => this.giveUp(), PATIENCE_MS);
    this.window.onRows((snapshot) => this.pending && this.learn(snapshot, answered));
  }

  /** The question is answered, or another one is asked. */
  end(): void {
    clearTimeout(this.timer);
    this.pending = undefined;
    const { window } = this;
    this.window = undefined;
    window?.dispose();
  }

  /** Asks again for what can be asked again. */
  restore(): void {
    const possible = this.possible();
    this.lapses.update((lapses) => lapses.filter((one) => !possible.includes(one)));
    this.host.change(withLapses(this.host.look(), possible));
  }

  forget(): void {
    this.lapses.set([]);
  }

  private learn({ columns }: Snapshot, answered: boolean): void {
    const look = this.host.look();
    const lapses = lapsesOf(look, columns, this.host.columns());
    if (!lapses.length) {
      // Nothing is wrong that columns could tell; or they are still the old ones.
      if (!answered) this.giveUp();
      return;
    }
    this.end();
    this.heard.set(columns);
    const isOther = ({ column }: Lapse): boolean => !lapses.some((one) => one.column === column);
    this.lapses.update((before) => [...before.filter(isOther), ...lapses]);
    this.host.change(withoutLapses(look, lapses));
  }

  /** Then the gateway's own words are all there is to say; the columns may still come. */
  private giveUp(): void {
    if (this.pending) this.host.status.set(this.pending);
  }
}
