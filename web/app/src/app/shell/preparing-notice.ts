import { Component, computed, DestroyRef, effect, inject, signal, untracked } from '@angular/core';
import { RouterLink } from '@angular/router';
import { TableCatalog } from '../live/table-catalog';
import { preparingGeneration, share, type Pipeline } from '../live/pipeline';

/** During a preparation, the progress changes every second. */
const POLL_MS = 1000;
const SHOWN_MS = 10_000;

type Outcome = 'live' | 'failed';

const OUTCOMES: Readonly<Record<Outcome, string>> = {
  live: 'The new pipeline is live: the tables show its rows.',
  failed: 'The new pipeline failed. The previous one keeps running.',
};

/**
 * A notice on every page while another pipeline is prepared, and its outcome. The tables switch by
 * themselves; the notice explains why their rows change.
 */
@Component({
  selector: 'app-preparing',
  imports: [RouterLink],
  template: `
    @if (text(); as text) {
      <p [class.bad]="outcome() === 'failed' && !preparing()">
        @if (preparing()) {
          <span class="app-spinner" aria-hidden="true"></span>
        }
        <span>{{ text }}</span>
        <a routerLink="/status">{{
          outcome() === 'failed' && !preparing() ? 'See why' : 'Status'
        }}</a>
        @if (!preparing()) {
          <button type="button" class="app-button quiet small" (click)="outcome.set(undefined)">
            Dismiss
          </button>
        }
      </p>
    }
    <span class="app-visually-hidden" role="status">{{ announcement() }}</span>
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
  readonly #catalog = inject(TableCatalog);
  protected readonly preparing = computed(() => preparingGeneration(this.#catalog.pipeline()));
  protected readonly outcome = signal<Outcome | undefined>(undefined);
  #stopPolling: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #number: number | undefined;

  protected readonly text = computed(() => {
    const preparing = this.preparing();
    const outcome = this.outcome();
    if (!preparing) return outcome ? OUTCOMES[outcome] : '';
    const { step = '', done = 0, total = 0 } = preparing.progress ?? {};
    const progress = total > 0 ? `${step}, ${share(done, total)}` : step;
    return `A new pipeline is being prepared${progress ? `: ${progress}` : ''}.`;
  });
  /** For screen readers, without the progress that changes every second. */
  protected readonly announcement = computed(() => {
    if (this.preparing()) return 'A new pipeline is being prepared.';
    const outcome = this.outcome();
    return outcome ? OUTCOMES[outcome] : '';
  });

  constructor() {
    effect(() => {
      const pipeline = this.#catalog.pipeline();
      untracked(() => this.#follow(pipeline));
    });
    inject(DestroyRef).onDestroy(() => {
      this.#stopPolling?.();
      clearTimeout(this.#timer);
    });
  }

  #follow(pipeline: Pipeline | undefined): void {
    const preparing = preparingGeneration(pipeline);
    if (preparing) {
      this.#stopPolling ??= this.#catalog.pollEvery(POLL_MS);
      this.#number = preparing.generation;
      this.outcome.set(undefined);
    } else if (this.#number !== undefined && pipeline) {
      this.#stopPolling?.();
      this.#stopPolling = undefined;
      this.#end(outcomeOf(pipeline, this.#number));
      this.#number = undefined;
    }
  }

  /** Success disappears after a while; a failure stays until the user dismisses it. */
  #end(outcome: Outcome | undefined): void {
    this.outcome.set(outcome);
    clearTimeout(this.#timer);
    if (outcome === 'live') {
      this.#timer = setTimeout(() => this.outcome.set(undefined), SHOWN_MS);
    }
  }
}

/** Undefined for a preparation that was cancelled. */
function outcomeOf(pipeline: Pipeline, number: number): Outcome | undefined {
  if (pipeline.current === number) return 'live';
  const one = pipeline.generations.find(({ generation }) => generation === number);
  return one?.state === 'failed' ? 'failed' : undefined;
}
