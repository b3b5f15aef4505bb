import { Component, computed, input } from '@angular/core';
import { messageShown } from './words';

/** A control message: what it names and how, or its text where it is none. */
@Component({
  selector: 'app-control-message',
  template: `
    @for (field of shown().fields; track field.name) {
      <span
        ><span class="app-muted">{{ field.name }}</span
        >&ngsp;<b class="app-mono">{{ field.value }}</b></span
      >
    } @empty {
      <code>{{ shown().text || 'no text' }}</code>
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
export class ControlMessageShown {
  readonly text = input.required<string>();
  protected readonly shown = computed(() => messageShown(this.text()));
}
