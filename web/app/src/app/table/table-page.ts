import { Component, input } from '@angular/core';
import { TableView } from './table-view';

/** The page of one table. */
@Component({
  selector: 'app-table-page',
  imports: [TableView],
  template: `
    <h1 class="app-visually-hidden" tabindex="-1">{{ name() }}</h1>
    <!-- Another table gets a new component, so that no state of the one before stays. -->
    @for (table of [name()]; track table) {
      <app-table-view [table]="table" />
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
  /** From the URL. */
  readonly name = input.required<string>();
}
