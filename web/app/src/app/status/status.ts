import { Component, computed, DestroyRef, inject } from '@angular/core';
import { AvailableChoices } from '../control/available-choices';
import { GenerationList } from '../control/generation-list';
import { MessageList } from '../control/message-list';
import { ControlPanel } from '../control/control-panel';
import { TableCatalog } from '../live/table-catalog';
import { clock } from '../live/clock';
import { isAboutPipeline } from '../live/table-kinds';
import { spanOf } from '../live/table-history';
import { Session } from '../session/session';
import { ago, bytes, count, duration } from '../format/amounts';
import { PipelineCard } from './pipeline-card';
import { TableCard } from './table-card';

const POLL_MS = 1000;
/** Older data is shown as outdated. */
const STALE_MS = 3500;

/** The status page: the pipeline, the gateway, and the tables with their last minutes. */
@Component({
  selector: 'app-status',
  imports: [ControlPanel, GenerationList, MessageList, PipelineCard, TableCard],
  providers: [AvailableChoices],
  templateUrl: './status.html',
  styleUrl: './status.css',
})
export class Status {
  readonly #catalog = inject(TableCatalog);
  readonly #login = inject(Session).login;
  protected readonly mayControl = computed(() => this.#login()?.control ?? false);
  protected readonly now = clock();
  protected readonly tables = this.#catalog.tables;
  /** Without the tables about the pipeline, which are shown as lists. */
  protected readonly charted = computed(() =>
    this.tables().filter((table) => !isAboutPipeline(table)),
  );
  protected readonly pipeline = this.#catalog.pipeline;
  protected readonly history = this.#catalog.history;

  /** The time at the right edge of every chart. */
  protected readonly edge = computed(() =>
    Math.max(this.#catalog.updatedAt(), this.now() - POLL_MS),
  );
  protected readonly span = computed(() => spanOf(this.history(), this.edge()));
  protected readonly stale = computed(() => this.now() - this.#catalog.updatedAt() > STALE_MS);
  protected readonly age = computed(() => {
    const updatedAt = this.#catalog.updatedAt();
    const error = this.#catalog.error();
    if (updatedAt === 0) return error || 'Loading…';
    if (!this.stale())
      return `Updated every second. Charts show the last ${duration(this.span() / 1000)}.`;
    return `Outdated: last updated ${ago(updatedAt, this.now())}. ${error}`;
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
      { name: 'Rights', value: login?.control ? 'read, control' : 'read' },
      { name: 'Readable tables', value: count(tables.length) },
      { name: 'Rows', value: count(sum(({ rows }) => rows)) },
      { name: 'Memory', value: bytes(sum((table) => table.bytes)) },
      { name: 'Views', value: count(sum(({ views }) => views)) },
    ];
  });

  constructor() {
    inject(DestroyRef).onDestroy(this.#catalog.pollEvery(POLL_MS));
  }
}
