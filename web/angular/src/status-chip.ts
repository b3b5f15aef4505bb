import { ChangeDetectionStrategy, Component, computed, input } from '@angular/core';
import type { TableStatus } from '@evergrid/client';
import { Icon } from './icon.js';
import { statusWords } from './status-words.js';

/** Says in a word how fresh the rows are; screen readers hear when that changes. */
@Component({
  selector: 'eg-status-chip',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  template: `
    <span class="eg-chip eg-status" [class]="tone()" [title]="status().message">
      <eg-icon [name]="words().icon" />
      <span role="status" aria-live="polite">{{ words().label }}</span>
    </span>
  `,
})
export class StatusChip {
  readonly status = input.required<TableStatus>();
  protected readonly words = computed(() => statusWords(this.status()));
  protected readonly tone = computed(() => `eg-tone-${this.words().tone}`);
}
