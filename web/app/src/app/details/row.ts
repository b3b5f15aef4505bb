import { Component, computed, inject, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import { exact } from '@evergrid/angular';
import type { Column, Row } from '@evergrid/client';
import { Catalog } from '../live/catalog';
import { kindOf, OFFSET, PARTITION, sidesOf } from '../live/kinds';
import { CopyButton } from './copy';
import { descendantFilters, originsOf, sourceOf } from './origin';
import { OriginCard } from './card';
import { Values } from './values';

interface Descendants {
  readonly table: string;
  readonly params: { readonly filter: string };
}

/** A row's values, and where they came from. */
@Component({
  selector: 'app-row-details',
  imports: [CopyButton, OriginCard, RouterLink, Values],
  templateUrl: './row.html',
  styleUrl: './row.css',
})
export class RowDetails {
  readonly #catalog = inject(Catalog);
  readonly row = input.required<Row>();
  readonly columns = input.required<readonly Column[]>();
  readonly table = input.required<string>();
  /** That it is a row of: not the one that its table shows now, if that was replaced since. */
  readonly generation = input.required<number>();

  protected readonly plain = computed(() => this.columns().filter(({ role }) => role !== 'trace'));
  /** Trace columns that name no message of a side. */
  protected readonly marks = computed(() => {
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
   * Joined tables that have rows of this message, if it is one of a source. They show the current
   * generation, where the same place may be that of another message.
   */
  protected readonly descendants = computed((): readonly Descendants[] => {
    const source = this.source();
    const [partition, offset] = [this.row()[PARTITION], this.row()[OFFSET]];
    if (!source || partition === undefined || offset === undefined) return [];
    if (this.generation() !== this.#catalog.pipeline()?.current) return [];
    const filter = JSON.stringify(descendantFilters(source.name, partition, offset));
    return this.#catalog
      .tables()
      .filter((table) => kindOf(table) === 'joined')
      .filter(({ columns }) => sidesOf(columns).some((side) => side.source === source.name))
      .map(({ name }) => ({ table: name, params: { filter } }));
  });

  /** As the gateway's HTTP answers write it; exact, also beyond what JSON's numbers hold. */
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
