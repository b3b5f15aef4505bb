import { Component, inject, input } from '@angular/core';
import { LiveTable } from '@evergrid/angular';
import { sharedLook } from '../address/shared';
import { Opener } from '../details/opener';
import { sessionClient } from '../session/client';
import { Unread } from './unread';

/** One table in all its size; its look is in the address. */
@Component({
  selector: 'app-sheet',
  imports: [LiveTable, Unread],
  template: `
    <app-unread [words]="shared.unread()" />
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
export class Sheet {
  readonly table = input.required<string>();
  protected readonly client = sessionClient();
  protected readonly opener = inject(Opener);
  protected readonly shared = sharedLook();
}
