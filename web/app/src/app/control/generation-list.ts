import {
  afterNextRender,
  Component,
  computed,
  inject,
  Injector,
  input,
  signal,
} from '@angular/core';
import { RouterLink } from '@angular/router';
import { TableCatalog } from '../live/table-catalog';
import { watchTable } from '../live/table-watch';
import { count, counted, moment } from '../format/amounts';
import { sentence } from '../format/sentence';
import { ControlSender } from './control-sender';
import { BadgeView } from './badge';
import { AvailableChoices } from './available-choices';
import { generationEntries, type GenerationEntry } from './generation-entries';
import { ProgressBar } from './progress-bar';
import { choicesOf, selectionFor } from './control-selection';
import { stateBadge } from './badge-labels';

const FIRST = 4;
const STEP = 20;
/** Generations in these states are always listed, however old they are. */
const ALWAYS_LISTED: ReadonlySet<string> = new Set(['preparing', 'ready', 'current', 'retiring']);

/** The present and earlier generations of the pipeline, the newest first. */
@Component({
  selector: 'app-generation-list',
  imports: [BadgeView, ProgressBar, RouterLink],
  templateUrl: './generation-list.html',
  styleUrl: './control-lists.css',
})
export class GenerationList {
  readonly now = input.required<number>();
  readonly #catalog = inject(TableCatalog);
  readonly #sender = inject(ControlSender);
  readonly #choices = inject(AvailableChoices);
  readonly #injector = inject(Injector);
  readonly #limit = signal(FIRST);

  protected readonly table = this.#catalog.generations;
  readonly #watched = watchTable(() => {
    const table = this.table();
    const order = [{ column: 'generation', descending: true }];
    return table ? { table, options: { order, limit: this.#limit() + STEP } } : undefined;
  });
  readonly #all = computed(() =>
    generationEntries(this.#catalog.pipeline(), this.#watched().snapshot, this.#choices.choices()),
  );
  readonly #shown = computed(() =>
    this.#all().filter((one, rank) => rank < this.#limit() || ALWAYS_LISTED.has(one.state)),
  );
  protected readonly generations = computed(() =>
    this.#shown().map((one) => ({
      ...one,
      badge: stateBadge(one.state),
      error: sentence(one.error),
      facts: this.#facts(one),
      selection: this.#selection(one),
    })),
  );
  protected readonly more = computed(() => {
    const total = Math.max(this.#watched().snapshot?.total ?? 0, this.#all().length);
    const left = total - this.generations().length;
    return left > 0 ? `Show ${count(Math.min(left, STEP))} more` : '';
  });

  protected showMore(): void {
    this.#limit.update((limit) => limit + STEP);
  }

  /** Puts the generation's topics and join types into the form. */
  protected choose(selection: Readonly<Record<string, string>>): void {
    this.#sender.selection.set(selection);
    // The button is enabled only after the next render.
    const focus = (): void =>
      document.querySelector<HTMLElement>('app-control-panel [type=submit]')?.focus();
    afterNextRender(focus, { injector: this.#injector });
  }

  #facts({ state, rows, changed, keptUntil }: GenerationEntry): readonly string[] {
    const at = (milliseconds: number): string => moment(milliseconds, this.now());
    const kept = keptUntil ? `kept until ${at(keptUntil)}` : 'kept for switching back';
    return [
      changed ? `since ${at(changed)}` : '',
      rows === undefined ? '' : counted(rows, 'row'),
      state === 'retiring' ? kept : '',
    ].filter(Boolean);
  }

  /** The selection for this generation; undefined for the current one and one in preparation. */
  #selection({ state, fields }: GenerationEntry): Readonly<Record<string, string>> | undefined {
    const available = this.#choices.choices();
    if (!available || ['current', 'preparing', 'ready'].includes(state)) return undefined;
    const choices = choicesOf(available, this.#catalog.pipeline(), {});
    const selection = selectionFor(fields, choices);
    const runs = choices.every(({ field, running }) => selection?.[field] === running);
    return runs ? undefined : selection;
  }
}
