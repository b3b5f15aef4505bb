import type { Column, Row } from '@evergrid/client';
import type { CellPosition } from './cell-range.js';
import type { GridContent } from './grid-content.js';

/** What changed between two contents, among the lines that are drawn. */
export interface ContentDiff {
  /** Lines with any change. */
  readonly lines: ReadonlySet<number>;
  /** Lines that have another row now. */
  readonly replaced: ReadonlySet<number>;
  /** Cells whose value changed in the same row. */
  readonly cells: readonly CellPosition[];
}

/** Row ids hold within one generation: the same id in another one is another row. */
export function diffContent(
  before: GridContent,
  after: GridContent,
  drawn: Iterable<number>,
): ContentDiff {
  const otherGeneration = before.snapshot?.generation !== after.snapshot?.generation;
  const lines = new Set<number>();
  const replaced = new Set<number>();
  const cells: CellPosition[] = [];
  const columns = after.snapshot?.columns ?? [];
  for (const line of drawn) {
    const old = before.rowAt(line);
    const now = after.rowAt(line);
    if (old === now) continue;
    lines.add(line);
    if (!otherGeneration && old && now && old._id === now._id)
      cells.push(...changedCells(line, old, now, columns));
    else replaced.add(line);
  }
  return { lines, replaced, cells };
}

function changedCells(
  line: number,
  old: Row,
  now: Row,
  columns: readonly Column[],
): CellPosition[] {
  return columns
    .filter(({ name }) => name in old && !Object.is(old[name], now[name]))
    .map(({ name }) => ({ line, column: name }));
}
