import { ChangeDetectionStrategy, Component, computed, input } from '@angular/core';
import { ICONS, type IconName } from './icons.js';

/** An outline beside words; screen readers pass over it. */
@Component({
  selector: 'eg-icon',
  changeDetection: ChangeDetectionStrategy.OnPush,
  template: `<svg class="eg-icon" viewBox="0 0 16 16" aria-hidden="true">
    <path [attr.d]="path()" />
  </svg>`,
})
export class Icon {
  readonly name = input.required<IconName>();
  protected readonly path = computed(() => ICONS[this.name()]);
}
