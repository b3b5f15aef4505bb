import { ChangeDetectionStrategy, Component, computed, input, output, signal } from '@angular/core';
import { Icon } from './icon.js';
import type { Arrangement } from './memory.js';

export type ColumnWish =
  | { readonly wish: 'show'; readonly name: string; readonly shown: boolean }
  | { readonly wish: 'pin'; readonly name: string; readonly side: 'left' | 'right' | null }
  | { readonly wish: 'move'; readonly name: string; readonly by: 1 | -1 }
  | { readonly wish: 'reset' };

/** Chooses, pins and moves columns without a mouse, too. */
@Component({
  selector: 'eg-column-panel',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  templateUrl: './column-panel.html',
})
export class ColumnPanel {
  readonly columns = input.required<readonly Arrangement[]>();
  readonly wished = output<ColumnWish>();
  protected readonly sought = signal('');
  protected readonly found = computed(() => {
    const word = this.sought().trim().toLowerCase();
    return this.columns().filter(({ name }) => name.toLowerCase().includes(word));
  });

  protected pin({ name, pinned }: Arrangement): void {
    const side = pinned === 'left' ? 'right' : pinned === 'right' ? null : 'left';
    this.wished.emit({ wish: 'pin', name, side });
  }

  protected pinWords({ name, pinned }: Arrangement): string {
    if (pinned === 'left') return `${name} is pinned left. Pin it right`;
    return pinned === 'right' ? `${name} is pinned right. Unpin it` : `Pin ${name} left`;
  }
}
