import { Component, computed, input } from '@angular/core';
import { progressText, type Progress } from '../live/pipeline';
import { sentence } from '../format/sentence';

/** The progress of a preparation; an indeterminate bar without numbers. */
@Component({
  selector: 'app-progress-bar',
  template: `
    <progress
      [attr.value]="measured() ? progress()!.done : null"
      [attr.max]="measured() ? progress()!.total : null"
      [attr.aria-label]="label()"
    ></progress>
    <p class="app-muted">{{ text() }}</p>
  `,
  styles: `
    progress {
      display: block;
      width: 100%;
      height: 8px;
      accent-color: var(--eg-accent);
    }
    p {
      margin: 3px 0 0;
      overflow-wrap: anywhere;
    }
  `,
})
export class ProgressBar {
  readonly label = input.required<string>();
  readonly progress = input<Progress>();
  /** The text if there are no numbers. */
  readonly fallback = input('');

  protected readonly measured = computed(() => (this.progress()?.total ?? 0) > 0);
  protected readonly text = computed(() => {
    const progress = this.progress();
    return sentence(progress ? progressText(progress) : this.fallback() || 'Starting');
  });
}
