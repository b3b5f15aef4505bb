import { Component, computed, input } from '@angular/core';
import { progressWords, type Progress } from '../live/pipeline';
import { sentence } from '../words/sentence';

/** How far a preparation is: a bar and a sentence; without figures a bar that only moves. */
@Component({
  selector: 'app-progress-bar',
  template: `
    <progress
      [attr.value]="measured() ? progress()!.done : null"
      [attr.max]="measured() ? progress()!.total : null"
      [attr.aria-label]="label()"
    ></progress>
    <p class="app-muted">{{ words() }}</p>
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
  /** For where there are no figures. */
  readonly fallback = input('');

  protected readonly measured = computed(() => (this.progress()?.total ?? 0) > 0);
  protected readonly words = computed(() => {
    const progress = this.progress();
    return sentence(progress ? progressWords(progress) : this.fallback() || 'It has just begun');
  });
}
