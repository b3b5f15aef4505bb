import { Component, computed, inject, input, signal } from '@angular/core';
import { RouterLink } from '@angular/router';
import { Catalog } from '../live/catalog';
import { watchTable } from '../live/watch';
import { count, duration, moment } from '../words/amounts';
import { sentence } from '../words/sentence';
import { BadgeMark } from './badge';
import { ControlMessageShown } from './message';
import { judgedOf, verdictBadge, type Judged } from './words';

const FIRST = 5;
const STEP = 20;

/** All that was asked of the pipeline, the newest first, each with what became of it: live. */
@Component({
  selector: 'app-message-list',
  imports: [BadgeMark, ControlMessageShown, RouterLink],
  templateUrl: './message-list.html',
  styleUrl: './list.css',
})
export class MessageList {
  readonly now = input.required<number>();
  readonly #catalog = inject(Catalog);
  readonly #limit = signal(FIRST);

  protected readonly table = this.#catalog.control;
  readonly #watched = watchTable(() => {
    const table = this.table();
    const options = { order: [{ column: 'ts', descending: true }], limit: this.#limit() };
    return table ? { table, options } : undefined;
  });
  readonly #snapshot = computed(() => this.#watched().snapshot);
  /** What there is to say of the table itself; empty when it is live. */
  protected readonly trouble = computed(() => {
    const { status } = this.#watched();
    return !status || status.state === 'live' || !this.#snapshot() ? '' : status.message;
  });
  protected readonly known = computed(() => this.#snapshot() !== undefined);
  protected readonly messages = computed(() =>
    (this.#snapshot()?.rows ?? []).map(judgedOf).map((judged) => ({
      ...judged,
      badge: verdictBadge(judged.verdict),
      reason: sentence(judged.reason),
      took: tookWords(judged),
    })),
  );
  protected readonly more = computed(() => {
    const left = (this.#snapshot()?.total ?? 0) - this.messages().length;
    return left > 0 ? `Show ${count(Math.min(left, STEP))} more` : '';
  });

  protected showMore(): void {
    this.#limit.update((limit) => limit + STEP);
  }

  protected when(milliseconds: number): string {
    return moment(milliseconds, this.now());
  }
}

/** How long it took to come to the screens. */
function tookWords({ verdict, asked, decided }: Judged): string {
  if (verdict !== 'applied' || !asked || decided < asked) return '';
  return `live after ${duration((decided - asked) / 1000)}`;
}
