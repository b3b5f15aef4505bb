import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import type { TableInfo } from '@evergrid/client';
import { Sparkline } from '../charts/sparkline';
import type { Sample } from '../charts/scale';
import { kindOf } from '../live/table-kinds';
import { currentGeneration, joinedSources, joinTypeLabel, type Pipeline } from '../live/pipeline';
import type { Reading } from '../live/table-history';
import { age, bytes, count, duration, moment, rate } from '../format/amounts';
import { StateLabel } from './state-label';

type MetricName = Exclude<keyof Reading, 'time'>;

interface Metric {
  readonly name: string;
  readonly tip: string;
  readonly metric: MetricName;
  readonly format: (value: number) => string;
  readonly note: (table: TableInfo) => string;
  /** Whether the range of its chart is that of its values instead of starting at zero. */
  readonly tight?: boolean;
}

const METRICS: readonly Metric[] = [
  {
    name: 'Rows',
    tip: 'Rows in the table, and their limit.',
    metric: 'rows',
    format: count,
    note: ({ max_rows }) => (max_rows ? `of ${count(max_rows)}` : ''),
    tight: true,
  },
  {
    name: 'Changes',
    tip: 'Changes applied to the table in the last seconds.',
    metric: 'rate',
    format: rate,
    note: () => 'a second',
  },
  {
    name: 'Lag',
    tip: 'Age of the newest message when the last change arrived.',
    metric: 'lag',
    format: duration,
    note: () => 'behind',
  },
  {
    name: 'Newest row',
    tip: 'Time since the newest row.',
    metric: 'age',
    format: age,
    note: () => 'old',
  },
  {
    name: 'Memory',
    tip: 'Memory of the table in the gateway, and its limit.',
    metric: 'bytes',
    format: bytes,
    note: ({ max_bytes }) => (max_bytes ? `of ${bytes(max_bytes)}` : ''),
    tight: true,
  },
  {
    name: 'Views',
    tip: 'Different orders, filters and searches in use.',
    metric: 'views',
    format: count,
    note: () => 'in use',
  },
];

/** A table on the status page: its kind, its state, and its metrics of the last minutes. */
@Component({
  selector: 'app-table-card',
  imports: [RouterLink, Sparkline, StateLabel],
  templateUrl: './table-card.html',
  styleUrl: './table-card.css',
})
export class TableCard {
  readonly table = input.required<TableInfo>();
  readonly readings = input.required<readonly Reading[]>();
  readonly pipeline = input.required<Pipeline | undefined>();
  readonly now = input.required<number>();
  /** Whether the data is outdated. */
  readonly stale = input.required<boolean>();
  readonly span = input.required<number>();

  protected readonly about = computed(() => {
    const { generation } = this.table();
    const description = describe(this.table(), this.pipeline());
    return [description, generation ? `generation ${generation}` : ''].filter(Boolean).join(' · ');
  });
  protected readonly page = computed(() =>
    kindOf(this.table()) === 'quarantine' ? ['/quarantine'] : ['/tables', this.table().name],
  );
  /** The message about its state. */
  protected readonly message = computed(() => {
    const { message, since } = this.table();
    const fresh = since ? ` Last up to date at ${moment(since / 1000, this.now())}.` : '';
    return `${message}${fresh}`;
  });
  protected readonly metrics = computed(() => {
    const readings = this.readings();
    return METRICS.map((metric) => ({
      ...metric,
      value: valueText(readings.at(-1)?.[metric.metric], metric.format),
      note: metric.note(this.table()),
      samples: readings.map((one): Sample => ({ time: one.time, value: one[metric.metric] })),
    }));
  });
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

function describe(table: TableInfo, pipeline: Pipeline | undefined): string {
  const current = currentGeneration(pipeline);
  const source = current?.sources.find((one) => one.table === table.name);
  if (source) return `messages of topic ${source.topic}`;
  const join = current?.joins.find((one) => one.table === table.name);
  if (join) return `${joinTypeLabel(join.type)} join of ${joinedSources(join).join(' and ')}`;
  const descriptions = {
    source: 'messages',
    joined: 'joined rows',
    quarantine: 'bad messages',
    control: 'control messages',
    generations: 'generations of the pipeline',
    other: '',
  };
  return descriptions[kindOf(table)];
}
