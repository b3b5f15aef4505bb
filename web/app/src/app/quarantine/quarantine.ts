import { Component, computed, inject } from '@angular/core';
import { LiveTable, type Look } from '@evergrid/angular';
import type { Condition } from '@evergrid/client';
import { sharedLook } from '../address/shared';
import { Opener } from '../details/opener';
import { Catalog } from '../live/catalog';
import { OFFSET, PARTITION } from '../live/kinds';
import { watchTable } from '../live/watch';
import { sessionClient } from '../session/client';
import { Unread } from '../table/unread';
import { count, counted } from '../words/amounts';
import { reasonKind, tally } from './reason';

/** As far back as the counts reach; more would be a lot of rows for a few figures. */
const COUNTED = 1000;
/** The text is left out: it is in the details, and a list of it would be a lot to send. */
const COLUMNS = ['ts', 'reason', 'topic', PARTITION, OFFSET];
/** The newest first: that is what somebody comes for. */
const USUAL: Look = { order: [{ column: 'ts', descending: true }] };

interface Chip {
  readonly name: string;
  readonly count: string;
  readonly condition: Condition;
  readonly chosen: boolean;
}

/** Messages that could not become rows: how many of which kind, and each one's raw text. */
@Component({
  selector: 'app-quarantine',
  imports: [LiveTable, Unread],
  templateUrl: './quarantine.html',
  styleUrl: './quarantine.css',
})
export class Quarantine {
  readonly #catalog = inject(Catalog);
  protected readonly client = sessionClient();
  protected readonly opener = inject(Opener);
  protected readonly shared = sharedLook('', USUAL);
  protected readonly columns = COLUMNS;
  /** Its usual name, until the gateway has told the real one. */
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
    if (snapshot.total === 0) return 'No message is in quarantine: all became rows.';
    const all = `${counted(snapshot.total, 'message')} could not become rows and took no part in joins.`;
    return snapshot.total > snapshot.rows.length
      ? `${all} Counts are of the newest ${count(snapshot.rows.length)}.`
      : all;
  });

  /** Shows only what the chip names, or everything again. */
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
