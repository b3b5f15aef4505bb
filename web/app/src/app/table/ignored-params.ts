import { Component, computed, input } from '@angular/core';

/** Reports invalid parameters of the URL, which were ignored. */
@Component({
  selector: 'app-ignored-params',
  template: `
    @if (params().length > 0) {
      <p class="app-notice" role="status">{{ message() }}</p>
    }
  `,
})
export class IgnoredParams {
  readonly params = input.required<readonly string[]>();
  protected readonly message = computed(
    () =>
      `Invalid parameters of this link were ignored: ${this.params().join(', ')}. ` +
      'The link may be incomplete.',
  );
}
