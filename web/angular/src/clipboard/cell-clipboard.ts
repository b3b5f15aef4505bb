import type { Column } from '@evergrid/client';
import type { CellRange } from '../grid/cell-range.js';
import { ROW_NUMBER } from '../grid/column-defs.js';
import { exact } from '../format/format.js';
import type { GridContent } from '../grid/grid-content.js';

export interface CellCopy {
  /** Exact values, separated by tabs for spreadsheets. */
  readonly text: string;
  readonly rows: number;
  /** Rows of the range that are not loaded, and so not in the text. */
  readonly missing: number;
}

/** The text of selected cells. */
export function copyOf(
  range: CellRange,
  content: GridContent,
  columns: readonly Column[],
): CellCopy {
  const names = range.columns.filter((name) => name !== ROW_NUMBER);
  const chosen = names.flatMap((name) => columns.filter((column) => column.name === name));
  const lines: string[] = [];
  let missing = 0;
  for (let line = range.first; line <= range.last; line += 1) {
    const row = content.rowAt(line);
    if (!row) missing += 1;
    else lines.push(chosen.map(({ name, type }) => field(row[name], type)).join('\t'));
  }
  return { text: lines.join('\n'), rows: lines.length, missing };
}

function field(value: Parameters<typeof exact>[0], type: Parameters<typeof exact>[1]): string {
  if (value === null || value === undefined) return '';
  const text = exact(value, type);
  return /[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Writes to the clipboard; pages without https have no clipboard API. */
export async function writeToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyWithCommand(text);
  }
}

function copyWithCommand(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'eg-offscreen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
