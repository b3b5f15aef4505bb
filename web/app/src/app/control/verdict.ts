import { Component, computed, effect, inject, input, untracked } from '@angular/core';
import { TableCatalog } from '../live/table-catalog';
import { OFFSET, PARTITION } from '../live/table-kinds';
import { watchTable } from '../live/table-watch';
import { ControlSender, type SentMessage } from './control-sender';
import { BadgeView } from './badge';
import { ControlMessageView } from './control-message';
import { ProgressBar } from './progress-bar';
import { verdictBadge } from './badge-labels';
import { isApplied, judgedSince, verdictText } from './judged-message';

/** The verdict on the message that this page sent. */
@Component({
  selector: 'app-verdict',
  imports: [BadgeView, ControlMessageView, ProgressBar],
  template: `
    <div class="box" [class]="badge().tone">
      <p class="what">
        <app-badge [badge]="badge()" />
        <app-control-message [text]="message()" />
      </p>
      <p role="status">{{ text() }}</p>
      @if (judged()?.verdict === 'preparing') {
        <app-progress-bar label="Preparation" [progress]="progress()" />
      }
      @if (judged()?.verdict === 'failed') {
        <button
          type="button"
          class="app-button"
          [disabled]="sender.sending()"
          (click)="sender.send(sent().message)"
        >
          Try again
        </button>
      }
    </div>
  `,
  styles: `
    .box {
      margin-top: 12px;
      padding: 9px 12px 10px;
      border: 1px solid var(--eg-line);
      border-left: 3px solid var(--eg-line-strong);
      border-radius: var(--eg-radius);
      background: var(--eg-bg);
    }
    .good {
      border-left-color: var(--eg-good);
    }
    .busy {
      border-left-color: var(--eg-warn);
    }
    .bad {
      border-left-color: var(--eg-bad);
    }
    p {
      margin: 0 0 6px;
      overflow-wrap: anywhere;
    }
    p:last-child {
      margin-bottom: 0;
    }
    .what {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 12px;
    }
  `,
})
export class Verdict {
  readonly sent = input.required<SentMessage>();
  readonly now = input.required<number>();
  protected readonly sender = inject(ControlSender);
  readonly #catalog = inject(TableCatalog);

  readonly #watched = watchTable(() => {
    const { partition, offset } = this.sent().place;
    const is = (column: string, value: number) => ({ column, op: 'equals' as const, value });
    return {
      table: this.#catalog.control() ?? 'control_raw',
      options: { filter: { and: [is(PARTITION, partition), is(OFFSET, offset)] }, limit: 1 },
    };
  });
  protected readonly judged = computed(() =>
    judgedSince(this.#watched().snapshot?.rows[0], this.sent().since),
  );
  protected readonly message = computed(() => JSON.stringify(this.sent().message));
  protected readonly badge = computed(() => {
    const verdict = this.judged()?.verdict;
    return verdict ? verdictBadge(verdict) : ({ label: 'Sent', tone: 'busy' } as const);
  });
  protected readonly text = computed(() => {
    const { status } = this.#watched();
    // A key that may not read the table never gets the verdict.
    if (status?.state === 'refused') return `Sent. ${status.message}`;
    return verdictText(this.judged(), this.#catalog.pipeline(), this.now());
  });
  protected readonly progress = computed(() => {
    const number = this.judged()?.generation;
    const one = this.#catalog.pipeline()?.generations.find((it) => it.generation === number);
    return one?.progress ?? undefined;
  });

  constructor() {
    effect(() => {
      const [sent, judged] = [this.sent(), this.judged()];
      if (!judged || !isApplied(judged, this.#catalog.pipeline())) return;
      untracked(() => this.sender.clearApplied(sent));
    });
  }
}
