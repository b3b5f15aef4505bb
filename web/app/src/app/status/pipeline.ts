import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import {
  currentGeneration,
  joinedSources,
  joinSentence,
  typeWords,
  type Generation,
  type Pipeline,
} from '../live/pipeline';
import { ago, moment } from '../words/amounts';
import { State } from './state';

/** What feeds the tables: topics, joins, and the generations of them. */
@Component({
  selector: 'app-pipeline-card',
  imports: [RouterLink, State],
  templateUrl: './pipeline.html',
  styleUrl: './pipeline.css',
})
export class PipelineCard {
  readonly pipeline = input.required<Pipeline | undefined>();
  readonly now = input.required<number>();
  /** Whether what is shown was so, rather than is so. */
  readonly stale = input.required<boolean>();

  protected readonly joinSentence = joinSentence;
  protected readonly joinedSources = joinedSources;
  protected readonly typeWords = typeWords;
  protected readonly current = computed(() => currentGeneration(this.pipeline()));
  protected readonly beat = computed(() => {
    const beat = this.pipeline()?.beat;
    return beat ? `Last sign of life ${ago(beat / 1000, this.now())}.` : '';
  });

  protected since({ changed, created }: Generation): string {
    const micros = changed || created;
    return micros ? moment(micros / 1000, this.now()) : '';
  }
}
