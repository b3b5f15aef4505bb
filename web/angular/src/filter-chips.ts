import { ChangeDetectionStrategy, Component, computed, input, output } from '@angular/core';
import type { Column, Condition } from '@evergrid/client';
import { Icon } from './icon.js';
import { conditionWords } from './operators.js';

/** The filters in words; each can be changed or taken away. */
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
            {{ chip.words }}
          </button>
          <button
            type="button"
            [attr.aria-label]="'Remove the filter ' + chip.words"
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
      words: conditionWords(
        condition,
        this.columns().find((one) => one.name === condition.column),
      ),
    })),
  );
}
