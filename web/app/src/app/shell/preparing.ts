import { Component, computed, DestroyRef, effect, inject, signal, untracked } from '@angular/core';
import { RouterLink } from '@angular/router';
import { Catalog } from '../live/catalog';
import { comingGeneration, share, type Pipeline } from '../live/pipeline';

/** While one is prepared, how far it is changes every second. */
const PACE_MS = 1000;
const SHOWN_MS = 10_000;

type Outcome = 'live' | 'failed';

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  live: 'The new pipeline is live: tables show its rows.',
  failed: 'The new pipeline could not be made. The one before runs on.',
};

/**
 * A quiet line across every page while another pipeline is prepared, and what came of it: tables
 * follow by themselves, but nobody should wonder why their rows are others.
 */
@Component({
  selector: 'app-preparing',
  imports: [RouterLink],
  template: `
    @if (words(); as words) {
      <p [class.bad]="outcome() === 'failed' && !coming()">
        @if (coming()) {
          <span class="app-spinner" aria-hidden="true"></span>
        }
        <span>{{ words }}</span>
        <a routerLink="/status">{{ outcome() === 'failed' && !coming() ? 'See why' : 'Status' }}</a>
        @if (!coming()) {
          <button type="button" class="app-button quiet small" (click)="outcome.set(undefined)">
            Dismiss
          </button>
        }
      </p>
    }
    <span class="app-unseen" role="status">{{ spoken() }}</span>
  `,
  styles: `
    p {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 2px 10px;
      min-height: 32px;
      margin: 0;
      padding: 3px 16px;
      border-bottom: 1px solid var(--eg-line);
      background: var(--eg-accent-soft);
    }
    .bad {
      background: var(--eg-warn-soft);
    }
    button {
      margin-left: auto;
    }
  `,
})
export class PreparingNotice {
  readonly #catalog = inject(Catalog);
  protected readonly coming = computed(() => comingGeneration(this.#catalog.pipeline()));
  protected readonly outcome = signal<Outcome | undefined>(undefined);
  #hurry: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #number: number | undefined;

  protected readonly words = computed(() => {
    const coming = this.coming();
    const outcome = this.outcome();
    if (!coming) return outcome ? OUTCOMES[outcome] : '';
    const { step = '', done = 0, total = 0 } = coming.progress ?? {};
    const far = total > 0 ? `${step}, ${share(done, total)}` : step;
    return `A new pipeline is being prepared${far ? `: ${far}` : ''}.`;
  });
  /** Every second would be too much to listen to. */
  protected readonly spoken = computed(() => {
    if (this.coming()) return 'A new pipeline is being prepared.';
    const outcome = this.outcome();
    return outcome ? OUTCOMES[outcome] : '';
  });

  constructor() {
    effect(() => {
      const pipeline = this.#catalog.pipeline();
      untracked(() => this.#follow(pipeline));
    });
    inject(DestroyRef).onDestroy(() => {
      this.#hurry?.();
      clearTimeout(this.#timer);
    });
  }

  #follow(pipeline: Pipeline | undefined): void {
    const coming = comingGeneration(pipeline);
    if (coming) {
      this.#hurry ??= this.#catalog.hurry(PACE_MS);
      this.#number = coming.generation;
      this.outcome.set(undefined);
    } else if (this.#number !== undefined && pipeline) {
      this.#hurry?.();
      this.#hurry = undefined;
      this.#end(outcomeOf(pipeline, this.#number));
      this.#number = undefined;
    }
  }

  /** What went well needs no more attention soon; what did not waits for somebody. */
  #end(outcome: Outcome | undefined): void {
    this.outcome.set(outcome);
    clearTimeout(this.#timer);
    if (outcome === 'live') {
      this.#timer = setTimeout(() => this.outcome.set(undefined), SHOWN_MS);
    }
  }
}

/** Nothing is said of one that was only called off. */
function outcomeOf(pipeline: Pipeline, number: number): Outcome | undefined {
  if (pipeline.current === number) return 'live';
  const one = pipeline.generations.find(({ generation }) => generation === number);
  return one?.state === 'failed' ? 'failed' : undefined;
}
