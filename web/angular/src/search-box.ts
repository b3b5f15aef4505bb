import {
  ChangeDetectionStrategy,
  Component,
  DestroyRef,
  inject,
  input,
  linkedSignal,
  output,
} from '@angular/core';
import { Icon } from './icon.js';

const TYPING_MS = 250;

/** Words to look for; told when somebody pauses, presses Enter or goes elsewhere. */
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
        (keydown.enter)="tell()"
        (blur)="leave()"
      />
    </label>
  `,
})
export class SearchBox {
  readonly search = input.required<string>();
  readonly label = input('Search all columns of text');
  readonly searched = output<string>();
  /** What is still being typed is not undone by what was told a moment ago, and comes back. */
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
    this.timer = setTimeout(() => this.tell(), TYPING_MS);
  }

  /** What was typed counts before what is done next: going to a row must not be undone by it. */
  protected leave(): void {
    if (this.timer !== undefined) this.tell();
  }

  protected tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.searched.emit(this.text());
  }
}
