import { ChangeDetectionStrategy, Component, computed, input, output } from '@angular/core';
import type { Column, Condition } from '@evergrid/client';
import { Icon } from '../icon/icon.js';
import { conditionText } from './filter-operators.js';

/** The filters as text; the user can change or remove each one. */
@Component({
  selector: 'eg-filter-chips',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  template: `
    <ul class="eg-chips" aria-label="Filters">
      @for (chip of chips(); track chip.column) {
        <li class="eg-chip">
          <button
            type="button"
            #edit
            title="Change this filter"
            (click)="edited.emit({ column: chip.column, anchor: edit })"
          >
            {{ chip.text }}
          </button>
          <button
            type="button"
            [attr.aria-label]="'Remove the filter ' + chip.text"
            title="Remove"
            (click)="removed.emit(chip.column)"
          >
            <eg-icon name="close" />
          </button>
        </li>
      }
      @if (chips().length > 1) {
        <li><button type="button" class="eg-link" (click)="cleared.emit()">Clear all</button></li>
      }
    </ul>
  `,
})
export class FilterChips {
  readonly filters = input.required<readonly Condition[]>();
  readonly columns = input.required<readonly Column[]>();
  readonly edited = output<{ readonly column: string; readonly anchor: HTMLElement }>();
  readonly removed = output<string>();
  readonly cleared = output<void>();

  protected readonly chips = computed(() =>
    this.filters().map((condition) => ({
      column: condition.column,
      text: conditionText(
        condition,
        this.columns().find((one) => one.name === condition.column),
      ),
    })),
  );
}
