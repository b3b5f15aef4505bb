import { Component, computed, input } from '@angular/core';
import { messageText } from './judged-message';

/** A control message: its fields, or its text if it is not valid. */
@Component({
  selector: 'app-control-message',
  template: `
    @for (field of message().fields; track field.name) {
      <span
        ><span class="app-muted">{{ field.name }}</span
        >&ngsp;<b class="app-mono">{{ field.value }}</b></span
      >
    } @empty {
      <code>{{ message().text || 'no text' }}</code>
    }
  `,
  styles: `
    :host {
      display: inline-flex;
      flex-wrap: wrap;
      gap: 2px 14px;
      min-width: 0;
      overflow-wrap: anywhere;
    }
    b {
      font-weight: 550;
    }
    code {
      white-space: pre-wrap;
    }
  `,
})
export class ControlMessageView {
  readonly text = input.required<string>();
  protected readonly message = computed(() => messageText(this.text()));
}
