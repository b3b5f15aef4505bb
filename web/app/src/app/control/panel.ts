import { Component, computed, inject, input } from '@angular/core';
import { Catalog } from '../live/catalog';
import {
  comingGeneration,
  currentGeneration,
  joinSentence,
  joinWords,
  typeWords,
  type Join,
} from '../live/pipeline';
import { Asked } from './asked';
import { Choices } from './choices';
import { Verdict } from './verdict';
import { choicesOf, messageOf, offerOf, type Choice } from './wish';

/** Chooses other topics and join types, and follows what becomes of that. */
@Component({
  selector: 'app-control-panel',
  imports: [Verdict],
  templateUrl: './panel.html',
  styleUrl: './panel.css',
})
export class ControlPanel {
  readonly now = input.required<number>();
  readonly #catalog = inject(Catalog);
  protected readonly asked = inject(Asked);
  protected readonly choices = inject(Choices);

  readonly #current = computed(() => currentGeneration(this.#catalog.pipeline()));
  /** What runs, for those who may only look. */
  protected readonly running = computed(() => {
    const current = this.#current();
    if (!current) return [];
    return [
      ...current.sources.map(({ name, topic }) => ({ name, value: topic, mono: true })),
      ...current.joins.map(({ name, type }) => ({
        name,
        value: joinWords({ name, type }, false),
        mono: false,
      })),
    ];
  });
  protected readonly all = computed(() => {
    const choices = this.choices.choices();
    return choices ? choicesOf(choices, this.#catalog.pipeline(), this.asked.wish()) : [];
  });
  protected readonly topics = computed(() => this.all().filter(({ kind }) => kind === 'topic'));
  protected readonly types = computed(() => this.all().filter(({ kind }) => kind === 'type'));
  protected readonly offer = computed(() =>
    offerOf(this.all(), comingGeneration(this.#catalog.pipeline())),
  );
  protected readonly typeWords = typeWords;

  protected choose(field: string, value: string): void {
    this.asked.wish.update((wish) => ({ ...wish, [field]: value }));
  }

  protected send(event: Event): void {
    event.preventDefault();
    if (!this.offer().why) void this.asked.send(messageOf(this.all()));
  }

  /** What a type would do with this join's sources. */
  protected explained({ name }: Choice, type: string): string {
    const join = this.#current()?.joins.find((one) => one.name === name);
    const sides: Pick<Join, 'left' | 'right'> = join ?? { left: 'the left', right: 'the right' };
    return joinSentence({ name, type, table: '', ...{ left: sides.left, right: sides.right } });
  }

  protected optionWords({ running }: Choice, topic: string): string {
    if (topic === running) return `${topic} (running)`;
    return this.choices.choices()?.topics.includes(topic) ? topic : `${topic} (not there now)`;
  }
}
