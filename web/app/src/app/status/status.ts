import { Component, computed, DestroyRef, inject } from '@angular/core';
import { Choices } from '../control/choices';
import { GenerationList } from '../control/generation-list';
import { MessageList } from '../control/message-list';
import { ControlPanel } from '../control/panel';
import { Catalog } from '../live/catalog';
import { clock } from '../live/clock';
import { isAboutPipeline } from '../live/kinds';
import { spanOf } from '../live/record';
import { Session } from '../session/session';
import { ago, bytes, count, duration } from '../words/amounts';
import { PipelineCard } from './pipeline';
import { TableCard } from './card';

const PACE_MS = 1000;
/** Figures that are older are said to be old. */
const STALE_MS = 3500;

/** How everything is: the pipeline, the gateway, and each table over the last minutes. */
@Component({
  selector: 'app-status',
  imports: [ControlPanel, GenerationList, MessageList, PipelineCard, TableCard],
  providers: [Choices],
  templateUrl: './status.html',
  styleUrl: './status.css',
})
export class Status {
  readonly #catalog = inject(Catalog);
  readonly #login = inject(Session).login;
  protected readonly may = computed(() => this.#login()?.control ?? false);
  protected readonly now = clock();
  protected readonly tables = this.#catalog.tables;
  /** Those about the pipeline itself are there as lists. */
  protected readonly charted = computed(() =>
    this.tables().filter((table) => !isAboutPipeline(table)),
  );
  protected readonly pipeline = this.#catalog.pipeline;
  protected readonly record = this.#catalog.record;

  /** The moment at the right edge of every chart: when the gateway last told anything. */
  protected readonly edge = computed(() => Math.max(this.#catalog.taken(), this.now() - PACE_MS));
  protected readonly span = computed(() => spanOf(this.record(), this.edge()));
  protected readonly stale = computed(() => this.now() - this.#catalog.taken() > STALE_MS);
  protected readonly age = computed(() => {
    const taken = this.#catalog.taken();
    const problem = this.#catalog.problem();
    if (taken === 0) return problem || 'Asking the gateway…';
    if (!this.stale())
      return `Updated every second. Charts show the last ${duration(this.span() / 1000)}.`;
    return `These figures are from ${ago(taken, this.now())}. ${problem}`;
  });
  protected readonly facts = computed(() => {
    const login = this.#login();
    const tables = this.tables();
    const sum = (of: (table: (typeof tables)[number]) => number): number =>
      tables.reduce((total, table) => total + of(table), 0);
    return [
      { name: 'Version', value: login?.server ?? '–' },
      { name: 'Instance', value: login?.instance ?? '–' },
      { name: 'Your key', value: login?.key ?? '–' },
      { name: 'It may', value: login?.control ? 'read, and control' : 'read' },
      { name: 'Tables you see', value: count(tables.length) },
      { name: 'Rows in them', value: count(sum(({ rows }) => rows)) },
      { name: 'Memory of them', value: bytes(sum((table) => table.bytes)) },
      { name: 'Views on them', value: count(sum(({ views }) => views)) },
    ];
  });

  constructor() {
    inject(DestroyRef).onDestroy(this.#catalog.hurry(PACE_MS));
  }
}
