import { Component, input } from '@angular/core';
import { Sheet } from './sheet';

/** The page of one table. */
@Component({
  selector: 'app-table-page',
  imports: [Sheet],
  template: `
    <h1 class="app-unseen" tabindex="-1">{{ name() }}</h1>
    <!-- Another table is another sheet: nothing of the one before may stay. -->
    @for (table of [name()]; track table) {
      <app-sheet [table]="table" />
    }
  `,
  styles: `
    :host {
      display: flex;
      flex-direction: column;
      flex: 1;
      min-height: 320px;
      padding: 12px;
    }
    @media (max-width: 760px) {
      :host {
        padding: 8px;
      }
    }
  `,
})
export class TablePage {
  /** From the address. */
  readonly name = input.required<string>();
}
