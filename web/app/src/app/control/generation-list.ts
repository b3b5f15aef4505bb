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
import { Catalog } from '../live/catalog';
import { watchTable } from '../live/watch';
import { count, counted, moment } from '../words/amounts';
import { sentence } from '../words/sentence';
import { Asked } from './asked';
import { BadgeMark } from './badge';
import { Choices } from './choices';
import { listed, type Listed } from './generations';
import { ProgressBar } from './progress';
import { choicesOf, wishFor } from './wish';
import { stateBadge } from './words';

const FIRST = 4;
const STEP = 20;
/** Of these something is to be seen or done, however many have come since. */
const STANDING: ReadonlySet<string> = new Set(['preparing', 'ready', 'current', 'retiring']);

/** The generations of the pipeline that there are and were, the newest first: live. */
@Component({
  selector: 'app-generation-list',
  imports: [BadgeMark, ProgressBar, RouterLink],
  templateUrl: './generation-list.html',
  styleUrl: './list.css',
})
export class GenerationList {
  readonly now = input.required<number>();
  readonly #catalog = inject(Catalog);
  readonly #asked = inject(Asked);
  readonly #choices = inject(Choices);
  readonly #injector = inject(Injector);
  readonly #limit = signal(FIRST);

  protected readonly table = this.#catalog.generations;
  readonly #watched = watchTable(() => {
    const table = this.table();
    const order = [{ column: 'generation', descending: true }];
    return table ? { table, options: { order, limit: this.#limit() + STEP } } : undefined;
  });
  readonly #all = computed(() =>
    listed(this.#catalog.pipeline(), this.#watched().snapshot, this.#choices.choices()),
  );
  readonly #shown = computed(() =>
    this.#all().filter((one, rank) => rank < this.#limit() || STANDING.has(one.state)),
  );
  protected readonly generations = computed(() =>
    this.#shown().map((one) => ({
      ...one,
      badge: stateBadge(one.state),
      error: sentence(one.error),
      facts: this.#facts(one),
      wish: this.#wish(one),
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

  /** Puts it into the form, where it is to be sent from. */
  protected choose(wish: Readonly<Record<string, string>>): void {
    this.#asked.wish.set(wish);
    // The button can take the focus only when it is drawn anew.
    const focus = (): void =>
      document.querySelector<HTMLElement>('app-control-panel [type=submit]')?.focus();
    afterNextRender(focus, { injector: this.#injector });
  }

  #facts({ state, rows, changed, keptUntil }: Listed): readonly string[] {
    const at = (milliseconds: number): string => moment(milliseconds, this.now());
    const kept = keptUntil ? `kept until ${at(keptUntil)}` : 'kept for going back';
    return [
      changed ? `since ${at(changed)}` : '',
      rows === undefined ? '' : counted(rows, 'row'),
      state === 'retiring' ? kept : '',
    ].filter(Boolean);
  }

  /** What to choose to have it again; undefined for the one that there is, or is coming. */
  #wish({ state, made }: Listed): Readonly<Record<string, string>> | undefined {
    const known = this.#choices.choices();
    if (!known || ['current', 'preparing', 'ready'].includes(state)) return undefined;
    const choices = choicesOf(known, this.#catalog.pipeline(), {});
    const wish = wishFor(made, choices);
    const runs = choices.every(({ field, running }) => wish?.[field] === running);
    return runs ? undefined : wish;
  }
}
