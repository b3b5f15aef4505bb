import { Component, inject, input } from '@angular/core';
import { LiveTable } from '@evergrid/angular';
import { sharedViewState } from '../url/shared-view-state';
import { RowOpener } from '../details/row-opener';
import { sessionClient } from '../session/session-client';
import { IgnoredParams } from './ignored-params';

/** A table in full size; its view state is in the URL. */
@Component({
  selector: 'app-table-view',
  imports: [LiveTable, IgnoredParams],
  template: `
    <app-ignored-params [params]="shared.ignored()" />
    <eg-live-table
      [client]="client"
      [table]="table()"
      [heading]="table()"
      [(look)]="shared.look"
      (rowOpened)="opener.open({ table: table(), id: $event.row._id })"
    />
  `,
  styles: `
    :host {
      display: flex;
      flex-direction: column;
      flex: 1;
      min-height: 0;
    }
    eg-live-table {
      flex: 1;
      min-height: 0;
    }
  `,
})
export class TableView {
  readonly table = input.required<string>();
  protected readonly client = sessionClient();
  protected readonly opener = inject(RowOpener);
  protected readonly shared = sharedViewState();
}
