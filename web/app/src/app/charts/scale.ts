/** Samples to lines on a small canvas. Pure, so that what a chart claims can be tested. */

export interface Sample {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Null: not known at that moment. */
  readonly value: number | null;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  /** The moments at the left and the right edge. */
  readonly from: number;
  readonly to: number;
  /** The values at the bottom and the top. */
  readonly low: number;
  readonly high: number;
}

export interface Spot {
  readonly x: number;
  readonly y: number;
}

/** Half a line's width, so that a line at the edge is not cut. */
const MARGIN = 1.5;

/**
 * The range that a chart shows. From zero, unless `tight`: a rate is read against nothing at all,
 * a count of rows against what it was. A flat line is in the middle of a tight chart.
 */
export function rangeOf(samples: readonly Sample[], tight = false): { low: number; high: number } {
  const values = samples.flatMap(({ value }) => (value === null ? [] : [value]));
  const high = Math.max(0, ...values);
  if (!tight || values.length === 0) return { low: 0, high: high || 1 };
  const low = Math.min(...values);
  return low === high ? { low: low - 1, high: high + 1 } : { low, high };
}

export function spotOf(frame: Frame, time: number, value: number): Spot {
  const x = ((time - frame.from) / (frame.to - frame.from)) * frame.width;
  const share = (value - frame.low) / (frame.high - frame.low);
  const y = frame.height - MARGIN - share * (frame.height - 2 * MARGIN);
  return { x: rounded(x), y: rounded(y) };
}

/**
 * Unbroken stretches of samples: a line must not claim to know what nobody looked at.
 * `gap` is the longest silence between two samples that still counts as one stretch.
 */
export function stretches(samples: readonly Sample[], gap: number): readonly (readonly Sample[])[] {
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

/** The `d` of the lines; a stretch of one sample is a dot. */
export function linePath(frame: Frame, parts: readonly (readonly Sample[])[]): string {
  return parts.map((part) => lineOf(frame, part)).join('');
}

/** The `d` of what is under the lines. */
export function areaPath(frame: Frame, parts: readonly (readonly Sample[])[]): string {
  return parts
    .filter((part) => part.length > 1)
    .map((part) => {
      const end = spotOf(frame, part.at(-1)!.time, 0).x;
      const start = spotOf(frame, part[0]!.time, 0).x;
      return `${lineOf(frame, part)}L${end},${frame.height}L${start},${frame.height}Z`;
    })
    .join('');
}

/** The sample nearest to a moment, among those with a value. */
export function nearest(samples: readonly Sample[], time: number): Sample | undefined {
  let best: Sample | undefined;
  for (const sample of samples) {
    if (sample.value === null) continue;
    if (!best || Math.abs(sample.time - time) < Math.abs(best.time - time)) best = sample;
  }
  return best;
}

function lineOf(frame: Frame, part: readonly Sample[]): string {
  const spots = part.map(({ time, value }) => spotOf(frame, time, value ?? 0));
  if (spots.length === 1) return `M${spots[0]!.x},${spots[0]!.y}h0.01`;
  return spots.map(({ x, y }, index) => `${index ? 'L' : 'M'}${x},${y}`).join('');
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
