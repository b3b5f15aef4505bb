import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import { exact, formatted } from '@evergrid/angular';
import { watchTable } from '../live/table-watch';
import { isOnOtherTopic, messageFilters, type Origin } from './row-origin';
import { RowValues } from './row-values';

/** A message that a joined row was made from, with its row in the source's table. */
@Component({
  selector: 'app-origin-card',
  imports: [RouterLink, RowValues],
  templateUrl: './origin-card.html',
  styleUrl: './origin-card.css',
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

  readonly #found = computed(() => this.#watched().snapshot?.rows[0]);
  /** The table may show another topic now, with another message at this offset. */
  readonly #onOtherTopic = computed(() => isOnOtherTopic(this.origin(), this.#found()));
  protected readonly row = computed(() => (this.#onOtherTopic() ? undefined : this.#found()));
  protected readonly columns = computed(
    () => this.#watched().snapshot?.columns.filter(({ role }) => role === 'data') ?? [],
  );
  protected readonly link = computed(() =>
    this.#onOtherTopic() ? undefined : { filter: JSON.stringify(this.#filters()) },
  );
  protected readonly time = computed(() => {
    const ts = this.origin().message?.ts ?? null;
    const type = { kind: 'timestamp' } as const;
    return ts === null ? undefined : { text: formatted(ts, type), exact: exact(ts, type) };
  });
  /** The text in place of a row. */
  protected readonly message = computed(() => {
    const { table, source } = this.origin();
    if (!table) return `There is no table with the messages of ${source}.`;
    const { status, snapshot } = this.#watched();
    if (!snapshot) return status && status.state !== 'live' ? status.message : 'Loading…';
    if (this.#onOtherTopic()) return `${table} shows another topic now.`;
    return `${table} no longer has this row: a table keeps only its newest rows.`;
  });
}
