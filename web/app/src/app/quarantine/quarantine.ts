import { Component, computed, inject } from '@angular/core';
import { LiveTable, type ViewState } from '@evergrid/angular';
import type { Condition } from '@evergrid/client';
import { sharedViewState } from '../url/shared-view-state';
import { RowOpener } from '../details/row-opener';
import { TableCatalog } from '../live/table-catalog';
import { OFFSET, PARTITION } from '../live/table-kinds';
import { watchTable } from '../live/table-watch';
import { sessionClient } from '../session/session-client';
import { IgnoredParams } from '../table/ignored-params';
import { count, counted } from '../format/amounts';
import { reasonKind, tally } from './quarantine-reason';

/** The counts are of so many of the newest messages, to load few rows. */
const COUNTED = 1000;
/** Without the text, which is large; the details have it. */
const COLUMNS = ['ts', 'reason', 'topic', PARTITION, OFFSET];
/** The newest first. */
const DEFAULTS: ViewState = { order: [{ column: 'ts', descending: true }] };

interface Chip {
  readonly name: string;
  readonly count: string;
  readonly condition: Condition;
  readonly chosen: boolean;
}

/** The quarantine page: bad messages, counted by reason and topic. */
@Component({
  selector: 'app-quarantine',
  imports: [LiveTable, IgnoredParams],
  templateUrl: './quarantine.html',
  styleUrl: './quarantine.css',
})
export class Quarantine {
  readonly #catalog = inject(TableCatalog);
  protected readonly client = sessionClient();
  protected readonly opener = inject(RowOpener);
  protected readonly shared = sharedViewState('', DEFAULTS);
  protected readonly columns = COLUMNS;
  /** The default name, until the catalog has the real one. */
  protected readonly table = computed(() => this.#catalog.quarantine() ?? 'quarantine');

  readonly #newest = watchTable(() => ({
    table: this.table(),
    options: { columns: ['reason', 'topic'], offset: -COUNTED, limit: COUNTED },
  }));
  readonly #rows = computed(() => this.#newest().snapshot?.rows ?? []);

  protected readonly kinds = computed(() =>
    tally(this.#rows().map(({ reason }) => reasonKind(String(reason)))).map(({ thing, count }) =>
      this.#chip(thing.name, count, thing.condition),
    ),
  );
  protected readonly topics = computed(() =>
    tally(this.#rows().map(({ topic }) => String(topic))).map(({ thing, count }) =>
      this.#chip(thing, count, { column: 'topic', op: 'equals', value: thing }),
    ),
  );
  protected readonly summary = computed(() => {
    const { snapshot } = this.#newest();
    if (!snapshot) return '';
    if (snapshot.total === 0) return 'No messages in quarantine.';
    const all = `${counted(snapshot.total, 'message')} could not become rows and are not part of joins.`;
    return snapshot.total > snapshot.rows.length
      ? `${all} The counts are of the newest ${count(snapshot.rows.length)}.`
      : all;
  });

  /** Filters by the chip, or removes its filter. */
  protected choose({ condition, chosen }: Chip): void {
    this.shared.look.update(({ position, ...look }) => {
      const others = (look.filters ?? []).filter(({ column }) => column !== condition.column);
      return { ...look, filters: chosen ? others : [...others, condition] };
    });
  }

  #chip(name: string, amount: number, condition: Condition): Chip {
    const wanted = JSON.stringify(condition);
    const chosen = this.shared.look().filters?.some((held) => JSON.stringify(held) === wanted);
    return { name, count: count(amount), condition, chosen: chosen ?? false };
  }
}
