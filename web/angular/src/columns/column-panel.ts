import { ChangeDetectionStrategy, Component, computed, input, output, signal } from '@angular/core';
import { Icon } from '../icon/icon.js';
import type { ColumnArrangement } from './column-storage.js';

export type ColumnAction =
  | { readonly action: 'show'; readonly name: string; readonly shown: boolean }
  | { readonly action: 'pin'; readonly name: string; readonly side: 'left' | 'right' | null }
  | { readonly action: 'move'; readonly name: string; readonly by: 1 | -1 }
  | { readonly action: 'reset' };

/** Shows, hides, pins and moves columns, also by keyboard. */
@Component({
  selector: 'eg-column-panel',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  templateUrl: './column-panel.html',
})
export class ColumnPanel {
  readonly columns = input.required<readonly ColumnArrangement[]>();
  readonly action = output<ColumnAction>();
  protected readonly searchText = signal('');
  protected readonly matching = computed(() => {
    const text = this.searchText().trim().toLowerCase();
    return this.columns().filter(({ name }) => name.toLowerCase().includes(text));
  });

  protected pin({ name, pinned }: ColumnArrangement): void {
    const side = pinned === 'left' ? 'right' : pinned === 'right' ? null : 'left';
    this.action.emit({ action: 'pin', name, side });
  }

  protected pinLabel({ name, pinned }: ColumnArrangement): string {
    if (pinned === 'left') return `${name} is pinned left. Pin it right`;
    return pinned === 'right' ? `${name} is pinned right. Unpin it` : `Pin ${name} left`;
  }
}
