import { Component, input, signal } from '@angular/core';

const SHOWN_MS = 2000;

/** Copies a text and shows the result. */
@Component({
  selector: 'app-copy',
  template: `
    <button type="button" class="app-button small" (click)="copy()">
      {{ result() || label() }}
    </button>
    <span class="app-visually-hidden" role="status">{{ result() }}</span>
  `,
})
export class CopyButton {
  readonly text = input.required<string>();
  readonly label = input('Copy');
  protected readonly result = signal('');

  protected async copy(): Promise<void> {
    this.result.set((await copyText(this.text())) ? 'Copied' : 'Copy failed');
    setTimeout(() => this.result.set(''), SHOWN_MS);
  }
}

/** Browsers provide the clipboard API only to https and localhost. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithCommand(text);
  }
}

/** For pages over plain http. */
function copyWithCommand(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'app-visually-hidden';
  // Inside an open modal dialog, because nothing outside of it can be selected.
  (document.querySelector('dialog:modal') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}
