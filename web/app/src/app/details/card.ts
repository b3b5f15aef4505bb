import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import { exact, formatted } from '@evergrid/angular';
import { watchTable } from '../live/watch';
import { isElsewhere, messageFilters, type Origin } from './origin';
import { Values } from './values';

/** One message that a joined row was made from, with the row that its own table has of it. */
@Component({
  selector: 'app-origin-card',
  imports: [RouterLink, Values],
  templateUrl: './card.html',
  styleUrl: './card.css',
})
export class OriginCard {
  readonly origin = input.required<Origin>();

  readonly #filters = computed(() => {
    const { message } = this.origin();
    return message && messageFilters(message.partition, message.offset);
  });
  readonly #watched = watchTable(() => {
    const { table } = this.origin();
    const filters = this.#filters();
    return filters && table
      ? { table, options: { filter: { and: filters }, limit: 1 } }
      : undefined;
  });

  readonly #there = computed(() => this.#watched().snapshot?.rows[0]);
  /** Places are on topics: where the topic is another one now, so is the message at this place. */
  readonly #elsewhere = computed(() => isElsewhere(this.origin(), this.#there()));
  protected readonly row = computed(() => (this.#elsewhere() ? undefined : this.#there()));
  protected readonly columns = computed(
    () => this.#watched().snapshot?.columns.filter(({ role }) => role === 'data') ?? [],
  );
  protected readonly link = computed(() =>
    this.#elsewhere() ? undefined : { filter: JSON.stringify(this.#filters()) },
  );
  protected readonly time = computed(() => {
    const ts = this.origin().message?.ts ?? null;
    const type = { kind: 'timestamp' } as const;
    return ts === null ? undefined : { text: formatted(ts, type), exact: exact(ts, type) };
  });
  /** What to read instead of a row. */
  protected readonly sentence = computed(() => {
    const { table, source } = this.origin();
    if (!table) return `No table that shows the messages of ${source} is known.`;
    const { status, snapshot } = this.#watched();
    if (!snapshot) return status && status.state !== 'live' ? status.message : 'Looking it up…';
    if (this.#elsewhere()) return `${table} shows another topic now.`;
    return `${table} has it no more: a table keeps its newest rows.`;
  });
}
