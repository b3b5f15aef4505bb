import {
  ChangeDetectionStrategy,
  Component,
  DestroyRef,
  inject,
  input,
  linkedSignal,
  output,
} from '@angular/core';
import { Icon } from '../icon/icon.js';

const TYPING_MS = 250;

/** The search field; emits when the user pauses, presses Enter or leaves the field. */
@Component({
  selector: 'eg-search-box',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  template: `
    <label class="eg-search">
      <eg-icon name="search" />
      <input
        #field
        type="search"
        maxlength="256"
        placeholder="Search"
        autocomplete="off"
        spellcheck="false"
        [attr.aria-label]="label()"
        [value]="text()"
        (input)="typed(field.value)"
        (keydown.enter)="emit()"
        (blur)="leave()"
      />
    </label>
  `,
})
export class SearchBox {
  readonly search = input.required<string>();
  readonly label = input('Search all text columns');
  readonly searched = output<string>();
  /** While the user types, the text that was emitted before does not replace the newer one. */
  protected readonly text = linkedSignal<string, string>({
    source: this.search,
    computation: (search, before) => (before && this.timer !== undefined ? before.value : search),
  });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    inject(DestroyRef).onDestroy(() => clearTimeout(this.timer));
  }

  protected typed(text: string): void {
    this.text.set(text);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.emit(), TYPING_MS);
  }

  /** Emits before the user's next action, which a later search would undo. */
  protected leave(): void {
    if (this.timer !== undefined) this.emit();
  }

  protected emit(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.searched.emit(this.text());
  }
}
