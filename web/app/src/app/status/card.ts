import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import type { TableInfo } from '@evergrid/client';
import { Sparkline } from '../charts/sparkline';
import type { Sample } from '../charts/scale';
import { kindOf } from '../live/kinds';
import { currentGeneration, joinedSources, typeWords, type Pipeline } from '../live/pipeline';
import type { Reading } from '../live/record';
import { age, bytes, count, duration, moment, rate } from '../words/amounts';
import { State } from './state';

type Figure = Exclude<keyof Reading, 'time'>;

interface Metric {
  readonly name: string;
  readonly tip: string;
  readonly figure: Figure;
  readonly format: (value: number) => string;
  readonly note: (table: TableInfo) => string;
  /** Whether its chart shows its own range, rather than from zero. */
  readonly tight?: boolean;
}

const METRICS: readonly Metric[] = [
  {
    name: 'Rows',
    tip: 'How many rows the table holds, and may hold.',
    figure: 'rows',
    format: count,
    note: ({ max_rows }) => (max_rows ? `of ${count(max_rows)}` : ''),
    tight: true,
  },
  {
    name: 'Changes',
    tip: 'Changes applied to the table lately.',
    figure: 'rate',
    format: rate,
    note: () => 'a second',
  },
  {
    name: 'Lag',
    tip: 'How old the newest of its messages was when the last change came.',
    figure: 'lag',
    format: duration,
    note: () => 'behind',
  },
  {
    name: 'Newest row',
    tip: 'How long ago the newest row happened.',
    figure: 'age',
    format: age,
    note: () => 'old',
  },
  {
    name: 'Memory',
    tip: 'What the table takes in the gateway, and may take.',
    figure: 'bytes',
    format: bytes,
    note: ({ max_bytes }) => (max_bytes ? `of ${bytes(max_bytes)}` : ''),
    tight: true,
  },
  {
    name: 'Views',
    tip: 'Different orders, filters and searches that somebody looks at.',
    figure: 'views',
    format: count,
    note: () => 'looked at',
  },
];

/** One table: what it is, how it is, and how its figures were in the last minutes. */
@Component({
  selector: 'app-table-card',
  imports: [RouterLink, Sparkline, State],
  templateUrl: './card.html',
  styleUrl: './card.css',
})
export class TableCard {
  readonly table = input.required<TableInfo>();
  readonly readings = input.required<readonly Reading[]>();
  readonly pipeline = input.required<Pipeline | undefined>();
  readonly now = input.required<number>();
  /** Whether what is shown was so, rather than is so. */
  readonly stale = input.required<boolean>();
  readonly span = input.required<number>();

  protected readonly about = computed(() => {
    const { generation } = this.table();
    const words = describe(this.table(), this.pipeline());
    return [words, generation ? `generation ${generation}` : ''].filter(Boolean).join(' · ');
  });
  protected readonly page = computed(() =>
    kindOf(this.table()) === 'quarantine' ? ['/quarantine'] : ['/tables', this.table().name],
  );
  /** What more there is to say than its state's name. */
  protected readonly sentence = computed(() => {
    const { message, since } = this.table();
    const known = since ? ` Last known to be fresh at ${moment(since / 1000, this.now())}.` : '';
    return `${message}${known}`;
  });
  protected readonly metrics = computed(() => {
    const readings = this.readings();
    return METRICS.map((metric) => ({
      ...metric,
      value: known(readings.at(-1)?.[metric.figure], metric.format),
      note: metric.note(this.table()),
      samples: readings.map((one): Sample => ({ time: one.time, value: one[metric.figure] })),
    }));
  });
}

function known(value: number | null | undefined, words: (value: number) => string): string {
  return value === null || value === undefined ? '–' : words(value);
}

function describe(table: TableInfo, pipeline: Pipeline | undefined): string {
  const current = currentGeneration(pipeline);
  const source = current?.sources.find((one) => one.table === table.name);
  if (source) return `messages of topic ${source.topic}`;
  const join = current?.joins.find((one) => one.table === table.name);
  if (join) return `${typeWords(join.type)} join of ${joinedSources(join).join(' and ')}`;
  const words = {
    source: 'messages',
    joined: 'joined rows',
    quarantine: 'bad messages',
    control: 'control messages',
    generations: 'pipelines that there are and were',
    other: '',
  };
  return words[kindOf(table)];
}
