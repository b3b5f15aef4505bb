import { ChangeDetectionStrategy, Component, input, output } from '@angular/core';
import type { ExportFormat } from '@evergrid/client';

export interface ExportWish {
  readonly format: ExportFormat;
  /** Only the rows of this page. */
  readonly page: boolean;
}

interface Offer extends ExportWish {
  readonly label: string;
}

const ALL: readonly Offer[] = [
  { format: 'csv', page: false, label: 'All rows as CSV' },
  { format: 'arrow', page: false, label: 'All rows as Arrow' },
];
const PAGE: readonly Offer[] = [
  { format: 'csv', page: true, label: 'This page as CSV' },
  { format: 'arrow', page: true, label: 'This page as Arrow' },
];

/** Offers files of what is shown. */
@Component({
  selector: 'eg-export-menu',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <p class="eg-form-title">Export what is shown: these columns, filters and order.</p>
    @for (offer of paged() ? page : all; track offer.label) {
      <button type="button" class="eg-item" (click)="wished.emit(offer)">{{ offer.label }}</button>
    }
  `,
})
export class ExportMenu {
  readonly paged = input(false);
  readonly wished = output<ExportWish>();
  protected readonly all = ALL;
  protected readonly page = [...PAGE, ...ALL];
}
