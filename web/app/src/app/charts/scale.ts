/** SVG paths of a chart from samples. Pure functions. */

export interface Sample {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Null: unknown at that time. */
  readonly value: number | null;
}

export interface ChartFrame {
  readonly width: number;
  readonly height: number;
  /** The times at the left and the right edge. */
  readonly from: number;
  readonly to: number;
  /** The values at the bottom and the top. */
  readonly low: number;
  readonly high: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Half a line's width, so that a line at the edge is not cut. */
const MARGIN = 1.5;

/**
 * The range of a chart: from zero for rates; `tight` for counts, which are compared with their own
 * earlier values. A flat line is in the middle of a tight chart.
 */
export function rangeOf(samples: readonly Sample[], tight = false): { low: number; high: number } {
  const values = samples.flatMap(({ value }) => (value === null ? [] : [value]));
  const high = Math.max(0, ...values);
  if (!tight || values.length === 0) return { low: 0, high: high || 1 };
  const low = Math.min(...values);
  return low === high ? { low: low - 1, high: high + 1 } : { low, high };
}

export function pointAt(frame: ChartFrame, time: number, value: number): Point {
  const x = ((time - frame.from) / (frame.to - frame.from)) * frame.width;
  const share = (value - frame.low) / (frame.high - frame.low);
  const y = frame.height - MARGIN - share * (frame.height - 2 * MARGIN);
  return { x: rounded(x), y: rounded(y) };
}

/**
 * Splits the samples at gaps: a line must not connect samples over an unknown time.
 * `gap` is the longest time between two samples of one part.
 */
export function splitAtGaps(
  samples: readonly Sample[],
  gap: number,
): readonly (readonly Sample[])[] {
  const found: Sample[][] = [];
  let last: Sample | undefined;
  for (const sample of samples) {
    if (sample.value === null) {
      last = undefined;
      continue;
    }
    if (last && sample.time - last.time <= gap) found.at(-1)!.push(sample);
    else found.push([sample]);
    last = sample;
  }
  return found;
}

/** The SVG path of the lines; a part of one sample is a dot. */
export function linePath(frame: ChartFrame, parts: readonly (readonly Sample[])[]): string {
  return parts.map((part) => lineOf(frame, part)).join('');
}

/** The SVG path of the area below the lines. */
export function areaPath(frame: ChartFrame, parts: readonly (readonly Sample[])[]): string {
  return parts
    .filter((part) => part.length > 1)
    .map((part) => {
      const end = pointAt(frame, part.at(-1)!.time, 0).x;
      const start = pointAt(frame, part[0]!.time, 0).x;
      return `${lineOf(frame, part)}L${end},${frame.height}L${start},${frame.height}Z`;
    })
    .join('');
}

/** The sample nearest to a time, among those with a value. */
export function nearest(samples: readonly Sample[], time: number): Sample | undefined {
  let best: Sample | undefined;
  for (const sample of samples) {
    if (sample.value === null) continue;
    if (!best || Math.abs(sample.time - time) < Math.abs(best.time - time)) best = sample;
  }
  return best;
}

function lineOf(frame: ChartFrame, part: readonly Sample[]): string {
  const points = part.map(({ time, value }) => pointAt(frame, time, value ?? 0));
  if (points.length === 1) return `M${points[0]!.x},${points[0]!.y}h0.01`;
  return points.map(({ x, y }, index) => `${index ? 'L' : 'M'}${x},${y}`).join('');
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
