import { Component, input, signal } from '@angular/core';

const SAID_MS = 2000;

/** Copies a text, and says whether that went well. */
@Component({
  selector: 'app-copy',
  template: `
    <button type="button" class="app-button small" (click)="copy()">
      {{ said() || label() }}
    </button>
    <span class="app-unseen" role="status">{{ said() }}</span>
  `,
})
export class CopyButton {
  readonly text = input.required<string>();
  readonly label = input('Copy');
  protected readonly said = signal('');

  protected async copy(): Promise<void> {
    this.said.set((await copied(this.text())) ? 'Copied' : 'Could not copy');
    setTimeout(() => this.said.set(''), SAID_MS);
  }
}

/** Browsers give the clipboard to pages of https and of this machine alone. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

/** The old way, for pages over plain http. */
function copiedByHand(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'app-unseen';
  // Inside an open dialog, for nothing outside of it can be selected.
  (document.querySelector('dialog:modal') ?? document.body).append(area);
  area.select();
  try {
    return document.execCommand('copy');
  } finally {
    area.remove();
  }
}
