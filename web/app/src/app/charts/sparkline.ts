import { Component, computed, input, signal } from '@angular/core';
import { ago, duration } from '../format/amounts';
import {
  areaPath,
  linePath,
  nearest,
  rangeOf,
  pointAt,
  splitAtGaps,
  type ChartFrame,
  type Sample,
} from './scale';

const WIDTH = 300;
const HEIGHT = 40;
/** Longer than the slowest polling interval, or the line would become dots. */
const GAP_MS = 12_000;

/** The last minutes of a metric as a small chart; the pointer shows single values. */
@Component({
  selector: 'app-sparkline',
  template: `
    <svg
      [attr.viewBox]="box"
      preserveAspectRatio="none"
      role="img"
      [attr.aria-label]="description()"
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
  /** The time at the right edge, milliseconds since 1970. */
  readonly now = input.required<number>();
  /** Milliseconds from the left edge to the right one. */
  readonly span = input.required<number>();
  /** Whether the range is that of the samples instead of starting at zero. */
  readonly tight = input(false);

  protected readonly box = `0 0 ${WIDTH} ${HEIGHT}`;
  /** The time under the pointer. */
  protected readonly pointed = signal<number | undefined>(undefined);

  readonly #frame = computed((): ChartFrame => {
    const range = rangeOf(this.samples(), this.tight());
    const edges = { from: this.now() - this.span(), to: this.now() };
    return { width: WIDTH, height: HEIGHT, ...edges, ...range };
  });
  readonly #parts = computed(() => splitAtGaps(this.samples(), GAP_MS));
  protected readonly line = computed(() => linePath(this.#frame(), this.#parts()));
  protected readonly area = computed(() => areaPath(this.#frame(), this.#parts()));
  protected readonly mark = computed(() => {
    const time = this.pointed();
    const sample = time === undefined ? undefined : nearest(this.samples(), time);
    if (!sample || sample.value === null) return undefined;
    const { x, y } = pointAt(this.#frame(), sample.time, sample.value);
    const text = `${this.format()(sample.value)}, ${ago(sample.time, this.now())}`;
    return { path: `M${x},0V${HEIGHT}M${x},${y}h0.01`, late: x > WIDTH / 2, text };
  });
  protected readonly description = computed(() => {
    const values = this.samples().flatMap(({ value }) => (value === null ? [] : [value]));
    if (values.length === 0) return `${this.label()}: no data yet`;
    const [low, high] = [Math.min(...values), Math.max(...values)].map(this.format());
    return `${this.label()}, last ${duration(this.span() / 1000)}: between ${low} and ${high}`;
  });

  protected point(event: PointerEvent): void {
    const box = (event.currentTarget as Element).getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    this.pointed.set(this.now() - (1 - share) * this.span());
  }
}
