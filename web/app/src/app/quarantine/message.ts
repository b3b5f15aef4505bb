import { Component, computed, input } from '@angular/core';
import { exact, formatted } from '@evergrid/angular';
import type { Row } from '@evergrid/client';
import { CopyButton } from '../details/copy';
import { OFFSET, PARTITION } from '../live/kinds';
import { reasonKind } from './reason';

const TIMESTAMP = { kind: 'timestamp' } as const;

/**
 * A message that could not become a row: why, what to do, where it is and its whole raw text.
 * Whoever can write to a topic chose that text, so it is only ever shown as text.
 */
@Component({
  selector: 'app-bad-message',
  imports: [CopyButton],
  templateUrl: './message.html',
  styleUrl: './message.css',
})
export class BadMessage {
  readonly row = input.required<Row>();

  protected readonly reason = computed(() => String(this.row()['reason'] ?? ''));
  protected readonly kind = computed(() => reasonKind(this.reason()));
  protected readonly text = computed(() => {
    const text = this.row()['text'];
    return text === null || text === undefined ? undefined : String(text);
  });
  protected readonly place = computed(() => [
    { name: 'Topic', value: String(this.row()['topic']) },
    { name: 'Partition', value: String(this.row()[PARTITION]) },
    { name: 'Offset', value: String(this.row()[OFFSET]) },
  ]);
  protected readonly time = computed(() => {
    const ts = this.row()['ts'];
    return { text: formatted(ts, TIMESTAMP), exact: exact(ts, TIMESTAMP) };
  });
}
