import { Component, computed, input, signal } from '@angular/core';
import { ago, duration } from '../words/amounts';
import {
  areaPath,
  linePath,
  nearest,
  rangeOf,
  spotOf,
  stretches,
  type Frame,
  type Sample,
} from './scale';

const WIDTH = 300;
const HEIGHT = 40;
/** Longer than the slowest pace of looking, or a calm page would be drawn in dots. */
const GAP_MS = 12_000;

/** A figure's last minutes as a small line; pointing at it tells what it was then. */
@Component({
  selector: 'app-sparkline',
  template: `
    <svg
      [attr.viewBox]="box"
      preserveAspectRatio="none"
      role="img"
      [attr.aria-label]="sentence()"
      (pointermove)="point($event)"
      (pointerleave)="pointed.set(undefined)"
    >
      <path class="area" [attr.d]="area()" />
      <path class="line" [attr.d]="line()" />
      @if (mark(); as mark) {
        <path class="mark" [attr.d]="mark.path" />
      }
    </svg>
    @if (mark(); as mark) {
      <span class="tip" [class.left]="mark.late" aria-hidden="true">{{ mark.text }}</span>
    }
  `,
  styleUrl: './sparkline.css',
})
export class Sparkline {
  readonly samples = input.required<readonly Sample[]>();
  readonly label = input.required<string>();
  readonly format = input.required<(value: number) => string>();
  /** The moment at the right edge, milliseconds since 1970. */
  readonly now = input.required<number>();
  /** Milliseconds from the left edge to the right one. */
  readonly span = input.required<number>();
  /** Whether the range is that of the samples, rather than from zero. */
  readonly tight = input(false);

  protected readonly box = `0 0 ${WIDTH} ${HEIGHT}`;
  /** The moment that somebody points at. */
  protected readonly pointed = signal<number | undefined>(undefined);

  readonly #frame = computed((): Frame => {
    const range = rangeOf(this.samples(), this.tight());
    const edges = { from: this.now() - this.span(), to: this.now() };
    return { width: WIDTH, height: HEIGHT, ...edges, ...range };
  });
  readonly #parts = computed(() => stretches(this.samples(), GAP_MS));
  protected readonly line = computed(() => linePath(this.#frame(), this.#parts()));
  protected readonly area = computed(() => areaPath(this.#frame(), this.#parts()));
  protected readonly mark = computed(() => {
    const time = this.pointed();
    const sample = time === undefined ? undefined : nearest(this.samples(), time);
    if (!sample || sample.value === null) return undefined;
    const { x, y } = spotOf(this.#frame(), sample.time, sample.value);
    const text = `${this.format()(sample.value)}, ${ago(sample.time, this.now())}`;
    return { path: `M${x},0V${HEIGHT}M${x},${y}h0.01`, late: x > WIDTH / 2, text };
  });
  protected readonly sentence = computed(() => {
    const values = this.samples().flatMap(({ value }) => (value === null ? [] : [value]));
    if (values.length === 0) return `${this.label()}: nothing known yet`;
    const [low, high] = [Math.min(...values), Math.max(...values)].map(this.format());
    return `${this.label()}, last ${duration(this.span() / 1000)}: between ${low} and ${high}`;
  });

  protected point(event: PointerEvent): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    this.pointed.set(this.now() - (1 - share) * this.span());
  }
}
