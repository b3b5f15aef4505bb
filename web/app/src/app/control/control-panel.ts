import { Component, computed, inject, input } from '@angular/core';
import { TableCatalog } from '../live/table-catalog';
import {
  preparingGeneration,
  currentGeneration,
  joinDescription,
  joinLabel,
  joinTypeLabel,
  type Join,
} from '../live/pipeline';
import { ControlSender } from './control-sender';
import { AvailableChoices } from './available-choices';
import { Verdict } from './verdict';
import { choicesOf, messageOf, submitState, type Choice } from './control-selection';

/** The form that selects topics and join types, and the verdict on the message sent. */
@Component({
  selector: 'app-control-panel',
  imports: [Verdict],
  templateUrl: './control-panel.html',
  styleUrl: './control-panel.css',
})
export class ControlPanel {
  readonly now = input.required<number>();
  readonly #catalog = inject(TableCatalog);
  protected readonly sender = inject(ControlSender);
  protected readonly choices = inject(AvailableChoices);

  readonly #current = computed(() => currentGeneration(this.#catalog.pipeline()));
  /** What runs, for keys without the control right. */
  protected readonly running = computed(() => {
    const current = this.#current();
    if (!current) return [];
    return [
      ...current.sources.map(({ name, topic }) => ({ name, value: topic, mono: true })),
      ...current.joins.map(({ name, type }) => ({
        name,
        value: joinLabel({ name, type }, false),
        mono: false,
      })),
    ];
  });
  protected readonly all = computed(() => {
    const choices = this.choices.choices();
    return choices ? choicesOf(choices, this.#catalog.pipeline(), this.sender.selection()) : [];
  });
  protected readonly topics = computed(() => this.all().filter(({ kind }) => kind === 'topic'));
  protected readonly types = computed(() => this.all().filter(({ kind }) => kind === 'type'));
  protected readonly submit = computed(() =>
    submitState(this.all(), preparingGeneration(this.#catalog.pipeline())),
  );
  protected readonly joinTypeLabel = joinTypeLabel;

  protected choose(field: string, value: string): void {
    this.sender.selection.update((selection) => ({ ...selection, [field]: value }));
  }

  protected send(event: Event): void {
    event.preventDefault();
    if (!this.submit().reason) void this.sender.send(messageOf(this.all()));
  }

  /** What a join type does with this join's sources. */
  protected describeType({ name }: Choice, type: string): string {
    const join = this.#current()?.joins.find((one) => one.name === name);
    const sides: Pick<Join, 'left' | 'right'> = join ?? { left: 'the left', right: 'the right' };
    return joinDescription({ name, type, table: '', ...{ left: sides.left, right: sides.right } });
  }

  protected optionLabel({ running }: Choice, topic: string): string {
    if (topic === running) return `${topic} (running)`;
    return this.choices.choices()?.topics.includes(topic) ? topic : `${topic} (does not exist)`;
  }
}
