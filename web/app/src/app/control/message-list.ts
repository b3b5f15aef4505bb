import { Component, computed, inject, input, signal } from '@angular/core';
import { RouterLink } from '@angular/router';
import { TableCatalog } from '../live/table-catalog';
import { watchTable } from '../live/table-watch';
import { count, duration, moment } from '../format/amounts';
import { sentence } from '../format/sentence';
import { BadgeView } from './badge';
import { ControlMessageView } from './control-message';
import { verdictBadge } from './badge-labels';
import { judgedMessage, type JudgedMessage } from './judged-message';

const FIRST = 5;
const STEP = 20;

/** All control messages with their verdicts, the newest first. */
@Component({
  selector: 'app-message-list',
  imports: [BadgeView, ControlMessageView, RouterLink],
  templateUrl: './message-list.html',
  styleUrl: './control-lists.css',
})
export class MessageList {
  readonly now = input.required<number>();
  readonly #catalog = inject(TableCatalog);
  readonly #limit = signal(FIRST);

  protected readonly table = this.#catalog.control;
  readonly #watched = watchTable(() => {
    const table = this.table();
    const options = { order: [{ column: 'ts', descending: true }], limit: this.#limit() };
    return table ? { table, options } : undefined;
  });
  readonly #snapshot = computed(() => this.#watched().snapshot);
  /** The status of the table; empty if it is live. */
  protected readonly warning = computed(() => {
    const { status } = this.#watched();
    return !status || status.state === 'live' || !this.#snapshot() ? '' : status.message;
  });
  protected readonly known = computed(() => this.#snapshot() !== undefined);
  protected readonly messages = computed(() =>
    (this.#snapshot()?.rows ?? []).map(judgedMessage).map((message) => ({
      ...message,
      badge: verdictBadge(message.verdict),
      reason: sentence(message.reason),
      took: durationText(message),
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

/** The time from the message until its generation was live. */
function durationText({ verdict, asked, decided }: JudgedMessage): string {
  if (verdict !== 'applied' || !asked || decided < asked) return '';
  return `live after ${duration((decided - asked) / 1000)}`;
}
