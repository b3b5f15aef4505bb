import type { Column, Row } from '@evergrid/client';
import type { CellPlace } from './flash.js';
import type { Sheet } from './sheet.js';

/** What became other between two sheets, among the lines that are drawn. */
export interface Difference {
  /** Lines with anything new. */
  readonly lines: ReadonlySet<number>;
  /** Lines that have another row than before. */
  readonly replaced: ReadonlySet<number>;
  /** Cells whose own row has got another value there. */
  readonly cells: readonly CellPlace[];
}

/** Ids are of one generation: the row with the same one in the next is another row. */
export function difference(before: Sheet, after: Sheet, drawn: Iterable<number>): Difference {
  const anew = before.snapshot?.generation !== after.snapshot?.generation;
  const lines = new Set<number>();
  const replaced = new Set<number>();
  const cells: CellPlace[] = [];
  const columns = after.snapshot?.columns ?? [];
  for (const line of drawn) {
    const old = before.rowAt(line);
    const now = after.rowAt(line);
    if (old === now) continue;
    lines.add(line);
    if (!anew && old && now && old._id === now._id) cells.push(...changes(line, old, now, columns));
    else replaced.add(line);
  }
  return { lines, replaced, cells };
}

function changes(line: number, old: Row, now: Row, columns: readonly Column[]): CellPlace[] {
  return columns
    .filter(({ name }) => name in old && !Object.is(old[name], now[name]))
    .map(({ name }) => ({ line, column: name }));
}
