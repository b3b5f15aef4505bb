import { Component, computed, input } from '@angular/core';
import type { ConnectionPhase, ConnectionStatus } from '@evergrid/client';
import { clock } from '../live/clock';
import { sessionClient } from '../session/session-client';
import { wholeSeconds } from '../format/amounts';

const NAMES: Readonly<Record<ConnectionPhase, string>> = {
  connecting: 'Connecting',
  open: 'Connected',
  waiting: 'Offline',
  refused: 'Refused',
  closed: 'Closed',
};

/** The status of the connection in one word, with the message as tooltip. */
@Component({
  selector: 'app-connection-indicator',
  template: `
    <span [class]="'app-state ' + status().phase" [title]="status().message" role="status">
      <span class="dot" aria-hidden="true"></span>{{ name() }}
      <span class="app-visually-hidden">: {{ status().message }}</span>
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
export class ConnectionIndicator {
  readonly status = input.required<ConnectionStatus>();
  protected readonly name = computed(() => NAMES[this.status().phase]);
}

/** A notice across the page while the connection is lost, with the time of the next attempt. */
@Component({
  selector: 'app-connection-notice',
  template: `
    @if (lost()) {
      <p>
        <span>{{ status().message }} {{ since() }}</span>
        <span class="next">{{ next() }}</span>
        <button type="button" class="app-button" (click)="client.retry()">Retry now</button>
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
  /** The user is logged in, so `connecting` means reconnecting. */
  protected readonly lost = computed(() => ['connecting', 'waiting'].includes(this.status().phase));

  protected readonly since = computed(() => {
    const since = this.status().since;
    if (since === undefined) return '';
    return `The data is ${wholeSeconds(Math.max(1, (this.#now() - since) / 1000))} old.`;
  });
  protected readonly next = computed(() => {
    const wait = Math.ceil(((this.status().retryAt ?? 0) - this.#now()) / 1000);
    return wait > 0 ? `Next attempt in ${wait} s` : 'Connecting…';
  });
}
