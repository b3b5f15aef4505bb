import { Component, computed, input } from '@angular/core';

/** Says that a part of the address was not understood, rather than to show something else mutely. */
@Component({
  selector: 'app-unread',
  template: `
    @if (words().length > 0) {
      <p class="app-notice" role="status">{{ sentence() }}</p>
    }
  `,
})
export class Unread {
  readonly words = input.required<readonly string[]>();
  protected readonly sentence = computed(
    () =>
      `A part of this link makes no sense and was left out: ${this.words().join(', ')}. ` +
      'It may have been cut when it was copied.',
  );
}
