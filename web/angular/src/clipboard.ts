import type { Column } from '@evergrid/client';
import type { Block } from './block.js';
import { NUMBERS } from './columns.js';
import { exact } from './format.js';
import type { Sheet } from './sheet.js';

export interface Copy {
  /** Tabs between cells, as spreadsheets want it; values exact. */
  readonly text: string;
  readonly rows: number;
  /** Rows of the block that are not here and so are not in the text. */
  readonly missing: number;
}

/** The text of picked cells. */
export function copyOf(block: Block, sheet: Sheet, columns: readonly Column[]): Copy {
  const names = block.columns.filter((name) => name !== NUMBERS);
  const chosen = names.flatMap((name) => columns.filter((column) => column.name === name));
  const lines: string[] = [];
  let missing = 0;
  for (let line = block.first; line <= block.last; line += 1) {
    const row = sheet.rowAt(line);
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

/** Puts a text where Paste finds it. Pages without https have only the old way. */
export async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return oldWay(text);
  }
}

function oldWay(text: string): boolean {
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'eg-offscreen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
