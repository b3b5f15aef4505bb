import {
  ChangeDetectionStrategy,
  Component,
  computed,
  input,
  linkedSignal,
  output,
  signal,
} from '@angular/core';
import type { Column, Condition, Operator } from '@evergrid/client';
import { entryOf, parseEntry, type FieldError, type FilterEntry } from './filter-entry.js';
import { arityOf, operatorsFor } from './filter-operators.js';

interface Start {
  readonly column: string | undefined;
  readonly columns: readonly Column[];
}

function isAmong(columns: readonly Column[], name: string | undefined): boolean {
  return columns.some((one) => one.name === name);
}

/** The form for the filter of one column, with operators and fields for its type. */
@Component({
  selector: 'eg-filter-form',
  changeDetection: ChangeDetectionStrategy.OnPush,
  templateUrl: './filter-form.html',
})
export class FilterForm {
  readonly columns = input.required<readonly Column[]>();
  /** The column at first; default: the table's first one. */
  readonly column = input<string>();
  readonly filters = input.required<readonly Condition[]>();
  /** Whether the user can choose another column. */
  readonly choosing = input(false);
  readonly applied = output<Condition>();
  readonly removed = output<string>();

  /** The user's choice stays when the table's columns change. */
  protected readonly name = linkedSignal<Start, string>({
    source: () => ({ column: this.column(), columns: this.columns() }),
    computation: ({ column, columns }, before) => {
      const stays = before?.source.column === column && isAmong(columns, before?.value);
      return stays ? before!.value : (column ?? columns[0]?.name ?? '');
    },
  });
  protected readonly chosen = computed(
    () => this.columns().find((one) => one.name === this.name()),
    { equal: (one, other) => JSON.stringify(one) === JSON.stringify(other) },
  );
  protected readonly before = computed(() =>
    this.filters().find((one) => one.column === this.name()),
  );
  protected readonly operators = computed(() => {
    const column = this.chosen();
    return column ? operatorsFor(column.type) : [];
  });
  protected readonly entry = linkedSignal<FilterEntry>(() => this.firstEntry());
  protected readonly arity = computed(() => arityOf(this.entry().op));
  protected readonly fields = computed(() => (this.arity() === 'two' ? [0, 1] : [0]));
  protected readonly fieldType = computed(() =>
    this.chosen()?.type.kind === 'timestamp' ? 'datetime-local' : 'text',
  );
  protected readonly fieldMode = computed(() => {
    const kind = this.chosen()?.type.kind;
    return kind === 'integer'
      ? 'numeric'
      : kind === 'decimal' || kind === 'float'
        ? 'decimal'
        : 'text';
  });
  protected readonly caseMatters = computed(
    () => this.chosen()?.type.kind === 'text' && this.arity() !== 'none',
  );
  protected readonly fieldError = signal<FieldError | undefined>(undefined);

  protected setOperator(op: string): void {
    this.fieldError.set(undefined);
    this.entry.update((entry) => ({ ...entry, op: op as Operator }));
  }

  protected setText(field: number, text: string): void {
    this.fieldError.set(undefined);
    this.entry.update(({ texts, ...rest }) => {
      const next = [texts[0] ?? '', texts[1] ?? ''];
      next[field] = text;
      return { ...rest, texts: next };
    });
  }

  protected setCase(ignoreCase: boolean): void {
    this.entry.update((entry) => ({ ...entry, ignoreCase }));
  }

  protected apply(event: Event): void {
    event.preventDefault();
    const column = this.chosen();
    if (!column) return;
    const result = parseEntry(column, this.entry(), this.before());
    if ('condition' in result) this.applied.emit(result.condition);
    else this.fieldError.set(result);
  }

  private firstEntry(): FilterEntry {
    const column = this.chosen();
    const before = this.before();
    if (!column) return { op: 'contains', texts: [], ignoreCase: true };
    if (before) return entryOf(before, column.type);
    const { kind } = column.type;
    const op = this.operators()[0]?.op ?? 'equals';
    return { op, texts: kind === 'boolean' ? ['true'] : [], ignoreCase: kind === 'text' };
  }
}
