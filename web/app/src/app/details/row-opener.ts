import { computed, inject, Injectable } from '@angular/core';
import { UrlParams } from '../url/url-params';
import { OPEN_PARAM, readOpened, writeOpened, type OpenedRow } from '../url/opened-row';

/** Which row's details are open; kept in the URL, so that a link shows them too. */
@Injectable({ providedIn: 'root' })
export class RowOpener {
  readonly #urlParams = inject(UrlParams);

  readonly opened = computed(() => {
    const text: unknown = this.#urlParams.params()[OPEN_PARAM];
    return readOpened(typeof text === 'string' ? text : null);
  });

  /** The back button closes the details; going from row to row adds no history entries. */
  open(row: OpenedRow): void {
    this.#urlParams.write({ [OPEN_PARAM]: writeOpened(row) }, this.opened() !== undefined);
  }

  close(): void {
    this.#urlParams.write({ [OPEN_PARAM]: null }, true);
  }
}
