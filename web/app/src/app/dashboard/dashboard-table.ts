import {
  Component,
  inject,
  Injector,
  input,
  runInInjectionContext,
  type OnInit,
} from '@angular/core';
import { LiveTable, type ViewState } from '@evergrid/angular';
import { sharedViewState, type SharedViewState } from '../url/shared-view-state';
import { RowOpener } from '../details/row-opener';
import { sessionClient } from '../session/session-client';

/** By default the tables of the dashboard follow the newest rows. */
const DEFAULTS: ViewState = { follow: true };

/** A table of the dashboard; its view state is in the URL under the table's name. */
@Component({
  selector: 'app-dashboard-table',
  imports: [LiveTable],
  template: `
    <eg-live-table
      [client]="client"
      [table]="table()"
      [heading]="table()"
      [compact]="true"
      [(look)]="shared.look"
      (rowOpened)="opener.open({ table: table(), id: $event.row._id })"
    />
  `,
  styles: `
    :host {
      display: flex;
      flex-direction: column;
      min-width: 0;
      min-height: 0;
    }
    eg-live-table {
      flex: 1;
      min-height: 0;
    }
  `,
})
export class DashboardTable implements OnInit {
  readonly table = input.required<string>();
  protected readonly client = sessionClient();
  protected readonly opener = inject(RowOpener);
  protected shared!: SharedViewState;
  readonly #injector = inject(Injector);

  ngOnInit(): void {
    runInInjectionContext(
      this.#injector,
      () => (this.shared = sharedViewState(this.table(), DEFAULTS)),
    );
  }
}
