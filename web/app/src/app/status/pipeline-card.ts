import { Component, computed, input } from '@angular/core';
import { RouterLink } from '@angular/router';
import {
  currentGeneration,
  joinedSources,
  joinDescription,
  joinTypeLabel,
  type Generation,
  type Pipeline,
} from '../live/pipeline';
import { ago, moment } from '../format/amounts';
import { StateLabel } from './state-label';

/** The pipeline on the status page: its current generation with topics and joins. */
@Component({
  selector: 'app-pipeline-card',
  imports: [RouterLink, StateLabel],
  templateUrl: './pipeline-card.html',
  styleUrl: './pipeline-card.css',
})
export class PipelineCard {
  readonly pipeline = input.required<Pipeline | undefined>();
  readonly now = input.required<number>();
  /** Whether the data is outdated. */
  readonly stale = input.required<boolean>();

  protected readonly joinDescription = joinDescription;
  protected readonly joinedSources = joinedSources;
  protected readonly joinTypeLabel = joinTypeLabel;
  protected readonly current = computed(() => currentGeneration(this.pipeline()));
  protected readonly heartbeat = computed(() => {
    const beat = this.pipeline()?.beat;
    return beat ? `Last heartbeat ${ago(beat / 1000, this.now())}.` : '';
  });

  protected since({ changed, created }: Generation): string {
    const micros = changed || created;
    return micros ? moment(micros / 1000, this.now()) : '';
  }
}
