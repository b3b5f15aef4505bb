import { Component, input } from '@angular/core';

/** A state as a word and a colour; "was …" if the data is outdated. */
@Component({
  selector: 'app-state',
  template: `
    <span class="app-state">
      <span [class]="'dot ' + (stale() ? 'outdated' : state())" aria-hidden="true"></span>
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
    .outdated {
      background: none;
      border: 1.5px solid var(--eg-muted);
    }
  `,
})
export class StateLabel {
  readonly state = input.required<string>();
  readonly stale = input.required<boolean>();
}
