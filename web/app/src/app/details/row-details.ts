import { Component, computed, inject, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import { exact } from '@evergrid/angular';
import type { Column, Row } from '@evergrid/client';
import { TableCatalog } from '../live/table-catalog';
import { kindOf, OFFSET, PARTITION, sidesOf } from '../live/table-kinds';
import { CopyButton } from './copy-button';
import { joinedRowFilters, originsOf, sourceOf } from './row-origin';
import { OriginCard } from './origin-card';
import { RowValues } from './row-values';

interface JoinedRowsLink {
  readonly table: string;
  readonly params: { readonly filter: string };
}

/** A row's values and origins. */
@Component({
  selector: 'app-row-details',
  imports: [CopyButton, OriginCard, RouterLink, RowValues],
  templateUrl: './row-details.html',
  styleUrl: './row-details.css',
})
export class RowDetails {
  readonly #catalog = inject(TableCatalog);
  readonly row = input.required<Row>();
  readonly columns = input.required<readonly Column[]>();
  readonly table = input.required<string>();
  /** The generation of the row, which may be an earlier one than the table's. */
  readonly generation = input.required<number>();

  protected readonly plain = computed(() => this.columns().filter(({ role }) => role !== 'trace'));
  /** Trace columns that do not belong to a side of a join. */
  protected readonly traceColumns = computed(() => {
    const named = new Set(
      sidesOf(this.columns()).flatMap((side) => [side.topic, side.partition, side.offset, side.ts]),
    );
    return this.columns().filter(({ role, name }) => role === 'trace' && !named.has(name));
  });
  protected readonly origins = computed(() =>
    originsOf(this.row(), this.columns(), this.#catalog.pipeline(), this.#catalog.tables()),
  );
  protected readonly source = computed(() =>
    sourceOf(this.table(), this.#catalog.pipeline(), this.generation()),
  );
  /**
   * Links to the joined rows of a source's message. Joined tables show the current generation, in
   * which the same position may be another message.
   */
  protected readonly joinedRows = computed((): readonly JoinedRowsLink[] => {
    const source = this.source();
    const [partition, offset] = [this.row()[PARTITION], this.row()[OFFSET]];
    if (!source || partition === undefined || offset === undefined) return [];
    if (this.generation() !== this.#catalog.pipeline()?.current) return [];
    const filter = JSON.stringify(joinedRowFilters(source.name, partition, offset));
    return this.#catalog
      .tables()
      .filter((table) => kindOf(table) === 'joined')
      .filter(({ columns }) => sidesOf(columns).some((side) => side.source === source.name))
      .map(({ name }) => ({ table: name, params: { filter } }));
  });

  /** The row as in the gateway's HTTP responses, with exact integers. */
  protected readonly json = computed(() => {
    const cells = this.columns().map(({ name, type }) => {
      const value = this.row()[name] ?? null;
      const timed = type.kind === 'timestamp' && value !== null;
      const plain = timed ? exact(value, type) : value;
      const text = typeof plain === 'bigint' ? String(plain) : JSON.stringify(plain);
      return `  ${JSON.stringify(name)}: ${text}`;
    });
    return `{\n${cells.join(',\n')}\n}`;
  });
}
