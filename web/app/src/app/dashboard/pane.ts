import {
  Component,
  inject,
  Injector,
  input,
  runInInjectionContext,
  type OnInit,
} from '@angular/core';
import { LiveTable, type Look } from '@evergrid/angular';
import { sharedLook, type SharedLook } from '../address/shared';
import { Opener } from '../details/opener';
import { sessionClient } from '../session/client';

/** The newest rows, as they come: what one wants to see of a table among others. */
const USUAL: Look = { follow: true };

/** One table among others; its look is in the address under its own name. */
@Component({
  selector: 'app-pane',
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
export class Pane implements OnInit {
  readonly table = input.required<string>();
  protected readonly client = sessionClient();
  protected readonly opener = inject(Opener);
  protected shared!: SharedLook;
  readonly #injector = inject(Injector);

  ngOnInit(): void {
    runInInjectionContext(this.#injector, () => (this.shared = sharedLook(this.table(), USUAL)));
  }
}
