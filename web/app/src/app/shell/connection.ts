import { Component, computed, input } from '@angular/core';
import type { ConnectionPhase, ConnectionStatus } from '@evergrid/client';
import { clock } from '../live/clock';
import { sessionClient } from '../session/client';
import { whole } from '../words/amounts';

const NAMES: Readonly<Record<ConnectionPhase, string>> = {
  connecting: 'Connecting',
  open: 'Connected',
  waiting: 'Offline',
  refused: 'Refused',
  closed: 'Closed',
};

/** How the connection is, in one word; the sentence is its tip. */
@Component({
  selector: 'app-connection',
  template: `
    <span [class]="'app-state ' + status().phase" [title]="status().message" role="status">
      <span class="dot" aria-hidden="true"></span>{{ name() }}
      <span class="app-unseen">: {{ status().message }}</span>
    </span>
  `,
  styles: `
    .dot {
      width: 8px;
      height: 8px;
      flex: none;
      border-radius: 50%;
      background: var(--eg-warn);
    }
    .open .dot {
      background: var(--eg-good);
    }
    .refused .dot,
    .closed .dot {
      background: var(--eg-bad);
    }
  `,
})
export class Connection {
  readonly status = input.required<ConnectionStatus>();
  protected readonly name = computed(() => NAMES[this.status().phase]);
}

/** A line across the page while the connection is lost: since when, until when, and a way out. */
@Component({
  selector: 'app-connection-notice',
  template: `
    @if (lost()) {
      <p>
        <span>{{ status().message }} {{ since() }}</span>
        <span class="next">{{ next() }}</span>
        <button type="button" class="app-button" (click)="client.retry()">Try now</button>
      </p>
    }
  `,
  styles: `
    p {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 12px;
      margin: 0;
      padding: 6px 16px;
      background: var(--eg-warn-soft);
      border-bottom: 1px solid var(--eg-line);
      color: var(--eg-warn);
    }
    .next {
      min-width: 11ch;
      margin-left: auto;
    }
  `,
})
export class ConnectionNotice {
  readonly status = input.required<ConnectionStatus>();
  protected readonly client = sessionClient();
  readonly #now = clock();
  /** Who is here was welcome once, so whoever connects now connects again. */
  protected readonly lost = computed(() => ['connecting', 'waiting'].includes(this.status().phase));

  protected readonly since = computed(() => {
    const since = this.status().since;
    if (since === undefined) return '';
    return `What you see is ${whole(Math.max(1, (this.#now() - since) / 1000))} old.`;
  });
  protected readonly next = computed(() => {
    const wait = Math.ceil(((this.status().retryAt ?? 0) - this.#now()) / 1000);
    return wait > 0 ? `Next try in ${wait} s` : 'Trying…';
  });
}
