import { Component, input } from '@angular/core';
import { exact, formatted } from '@evergrid/angular';
import type { Column, Row, Value } from '@evergrid/client';

/** A list of a row's values: formatted, and exact where that differs. */
@Component({
  selector: 'app-row-values',
  template: `
    <dl>
      @for (column of columns(); track column.name) {
        <div>
          <dt>{{ column.name }}</dt>
          @let value = row()[column.name];
          @if (value === null || value === undefined) {
            <dd class="none">no value</dd>
          } @else {
            <dd>
              <span [class]="column.type.kind">{{ formattedText(value, column) }}</span>
              @if (exactText(value, column); as text) {
                <span class="exact app-mono">{{ text }}</span>
              }
            </dd>
          }
        </div>
      }
    </dl>
  `,
  styles: `
    dl {
      margin: 0;
    }
    div {
      display: grid;
      grid-template-columns: minmax(90px, 34%) 1fr;
      gap: 12px;
      padding: 5px 0;
      border-bottom: 1px solid var(--eg-line);
    }
    div:last-child {
      border-bottom: 0;
    }
    dt {
      color: var(--eg-muted);
      overflow-wrap: anywhere;
    }
    dd {
      margin: 0;
      min-width: 0;
      overflow-wrap: anywhere;
    }
    .text {
      white-space: pre-wrap;
    }
    .exact {
      display: block;
      color: var(--eg-muted);
      font-size: 12px;
    }
    .none {
      color: var(--eg-muted);
      font-style: italic;
    }
  `,
})
export class RowValues {
  readonly row = input.required<Row>();
  readonly columns = input.required<readonly Column[]>();

  /** Text is not cut, as it is in cells. */
  protected formattedText(value: Value, { type }: Column): string {
    return type.kind === 'text' ? String(value) : formatted(value, type);
  }

  protected exactText(value: Value, column: Column): string {
    if (column.type.kind === 'text' || column.type.kind === 'boolean') return '';
    const text = exact(value, column.type);
    return text === this.formattedText(value, column) ? '' : text;
  }
}
