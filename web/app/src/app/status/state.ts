import { Component, input } from '@angular/core';

/** How something is, in a word and a colour; or how it was, when that is all we know. */
@Component({
  selector: 'app-state',
  template: `
    <span class="app-state">
      <span [class]="'dot ' + (stale() ? 'old' : state())" aria-hidden="true"></span>
      {{ stale() ? 'was ' + state() : state() }}
    </span>
  `,
  styles: `
    .dot {
      width: 8px;
      height: 8px;
      border-radius: 50%;
      background: var(--eg-warn);
    }
    .live {
      background: var(--eg-good);
    }
    .gone {
      background: var(--eg-bad);
    }
    .old {
      background: none;
      border: 1.5px solid var(--eg-muted);
    }
  `,
})
export class State {
  readonly state = input.required<string>();
  readonly stale = input.required<boolean>();
}
