import { Component, computed, input } from '@angular/core';
import { exact, formatted } from '@evergrid/angular';
import type { Row } from '@evergrid/client';
import { CopyButton } from '../details/copy-button';
import { OFFSET, PARTITION } from '../live/table-kinds';
import { reasonKind } from './quarantine-reason';

const TIMESTAMP = { kind: 'timestamp' } as const;

/**
 * A message in quarantine: the reason, what to do, its position and its raw text.
 * The text is untrusted, so it is shown only as text.
 */
@Component({
  selector: 'app-bad-message',
  imports: [CopyButton],
  templateUrl: './bad-message.html',
  styleUrl: './bad-message.css',
})
export class BadMessage {
  readonly row = input.required<Row>();

  protected readonly reason = computed(() => String(this.row()['reason'] ?? ''));
  protected readonly kind = computed(() => reasonKind(this.reason()));
  protected readonly text = computed(() => {
    const text = this.row()['text'];
    return text === null || text === undefined ? undefined : String(text);
  });
  protected readonly position = computed(() => [
    { name: 'Topic', value: String(this.row()['topic']) },
    { name: 'Partition', value: String(this.row()[PARTITION]) },
    { name: 'Offset', value: String(this.row()[OFFSET]) },
  ]);
  protected readonly time = computed(() => {
    const ts = this.row()['ts'];
    return { text: formatted(ts, TIMESTAMP), exact: exact(ts, TIMESTAMP) };
  });
}
