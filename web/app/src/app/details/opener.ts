import { computed, inject, Injectable } from '@angular/core';
import { Address } from '../address/address';
import { OPEN, readOpened, writeOpened, type Opened } from '../address/opened';

/** Which row's details are open. It is in the address, so a link shows them too. */
@Injectable({ providedIn: 'root' })
export class Opener {
  readonly #address = inject(Address);

  readonly opened = computed(() => {
    const text: unknown = this.#address.params()[OPEN];
    return readOpened(typeof text === 'string' ? text : null);
  });

  /** The back button closes the first one; going from row to row takes no further steps. */
  open(row: Opened): void {
    this.#address.go({ [OPEN]: writeOpened(row) }, this.opened() !== undefined);
  }

  close(): void {
    this.#address.go({ [OPEN]: null }, true);
  }
}
