import { ChangeDetectionStrategy, Component, input, output } from '@angular/core';
import type { ExportFormat } from '@evergrid/client';

export interface ExportRequest {
  readonly format: ExportFormat;
  /** Only the rows of the present page. */
  readonly page: boolean;
}

interface ExportChoice extends ExportRequest {
  readonly label: string;
}

const ALL: readonly ExportChoice[] = [
  { format: 'csv', page: false, label: 'All rows as CSV' },
  { format: 'arrow', page: false, label: 'All rows as Arrow' },
];
const PAGE: readonly ExportChoice[] = [
  { format: 'csv', page: true, label: 'This page as CSV' },
  { format: 'arrow', page: true, label: 'This page as Arrow' },
];

/** The menu of files that can be exported. */
@Component({
  selector: 'eg-export-menu',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `
    <p class="eg-form-title">Export with the present columns, filters and order.</p>
    @for (choice of paged() ? page : all; track choice.label) {
      <button type="button" class="eg-menu-item" (click)="requested.emit(choice)">
        {{ choice.label }}
      </button>
    }
  `,
})
export class ExportMenu {
  readonly paged = input(false);
  readonly requested = output<ExportRequest>();
  protected readonly all = ALL;
  protected readonly page = [...PAGE, ...ALL];
}
