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
import { entryOf, readEntry, type Entry } from './entry.js';
import { arityOf, operatorsFor } from './operators.js';

interface Begin {
  readonly column: string | undefined;
  readonly columns: readonly Column[];
}

function isAmong(columns: readonly Column[], name: string | undefined): boolean {
  return columns.some((one) => one.name === name);
}

/** Asks for the filter of one column, by operators and fields that fit its type. */
@Component({
  selector: 'eg-filter-form',
  changeDetection: ChangeDetectionStrategy.OnPush,
  templateUrl: './filter-form.html',
})
export class FilterForm {
  readonly columns = input.required<readonly Column[]>();
  /** The column to begin with; left out: the first. */
  readonly column = input<string>();
  readonly filters = input.required<readonly Condition[]>();
  /** Whether another column may be chosen here. */
  readonly choosing = input(false);
  readonly applied = output<Condition>();
  readonly removed = output<string>();

  /** As it was chosen, also when the table gets other columns meanwhile. */
  protected readonly name = linkedSignal<Begin, string>({
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
  protected readonly entry = linkedSignal<Entry>(() => this.firstEntry());
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
  protected readonly mistake = signal<
    { readonly field: number; readonly wrong: string } | undefined
  >(undefined);

  protected setOperator(op: string): void {
    this.mistake.set(undefined);
    this.entry.update((entry) => ({ ...entry, op: op as Operator }));
  }

  protected setText(field: number, text: string): void {
    this.mistake.set(undefined);
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
    const reading = readEntry(column, this.entry(), this.before());
    if ('condition' in reading) this.applied.emit(reading.condition);
    else this.mistake.set(reading);
  }

  private firstEntry(): Entry {
    const column = this.chosen();
    const before = this.before();
    if (!column) return { op: 'contains', texts: [], ignoreCase: true };
    if (before) return entryOf(before, column.type);
    const { kind } = column.type;
    const op = this.operators()[0]?.op ?? 'equals';
    return { op, texts: kind === 'boolean' ? ['true'] : [], ignoreCase: kind === 'text' };
  }
}
