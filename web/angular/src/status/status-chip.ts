import { ChangeDetectionStrategy, Component, computed, input } from '@angular/core';
import type { TableStatus } from '@evergrid/client';
import { Icon } from '../icon/icon.js';
import { statusLabel } from './status-label.js';

/** Shows how fresh the rows are; screen readers announce changes. */
@Component({
  selector: 'eg-status-chip',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  template: `
    <span class="eg-chip eg-status" [class]="tone()" [title]="status().message">
      <eg-icon [name]="label().icon" />
      <span role="status" aria-live="polite">{{ label().text }}</span>
    </span>
  `,
})
export class StatusChip {
  readonly status = input.required<TableStatus>();
  protected readonly label = computed(() => statusLabel(this.status()));
  protected readonly tone = computed(() => `eg-tone-${this.label().tone}`);
}
