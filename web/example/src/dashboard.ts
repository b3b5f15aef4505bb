import { ChangeDetectionStrategy, Component, DestroyRef, inject } from '@angular/core';
import { AsyncPipe } from '@angular/common';
import { map } from 'rxjs';
import { EVERGRID_CLIENT, LiveTable, streamTable } from '@evergrid/angular';

/** Three live tables, and one number from the same connection without a table. */
@Component({
  selector: 'example-root',
  imports: [AsyncPipe, LiveTable],
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <main>
      <h1>Example app</h1>
      <p>
        Joined so far: <strong>{{ (joined$ | async)?.toLocaleString('en') ?? '…' }}</strong>
      </p>
      <eg-live-table table="users_ui" heading="Users" />
      <eg-live-table table="accounts_ui" heading="Accounts" />
      <eg-live-table table="final_ui" heading="Users with their accounts" />
    </main>
  `,
})
export class Dashboard {
  private readonly newest = streamTable(inject(EVERGRID_CLIENT), 'final_ui', {
    offset: -1,
    limit: 1,
  });
  protected readonly joined$ = this.newest.snapshots$.pipe(map((snapshot) => snapshot.total));

  constructor() {
    inject(DestroyRef).onDestroy(() => this.newest.dispose());
  }
}
