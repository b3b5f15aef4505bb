import type { ColumnState } from 'ag-grid-community';
import { NUMBERS } from './columns.js';

/** How somebody has arranged a column; their order in a list is their order in the table. */
export interface Arrangement {
  readonly name: string;
  readonly width?: number;
  readonly hidden?: boolean;
  readonly pinned?: 'left' | 'right';
}

/** Remembers how columns are arranged, in this browser, table by table. */
export class ColumnMemory {
  constructor(private readonly table: string) {}

  private get key(): string {
    return `evergrid.columns.${this.table}`;
  }

  /** What is remembered; nothing if storage is forbidden, full, or has something else there. */
  recall(): readonly Arrangement[] {
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.key) ?? '[]');
      return Array.isArray(kept) ? kept.filter(isArrangement) : [];
    } catch {
      return [];
    }
  }

  keep(arrangements: readonly Arrangement[]): void {
    try {
      localStorage.setItem(this.key, JSON.stringify(arrangements));
    } catch {
      // The table works without a memory.
    }
  }

  forget(): void {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // There is nothing to forget.
    }
  }
}

function isArrangement(value: unknown): value is Arrangement {
  if (typeof value !== 'object' || value === null) return false;
  const { name, width, pinned } = value as Partial<Record<keyof Arrangement, unknown>>;
  const widthFits = width === undefined || (typeof width === 'number' && width > 0);
  const pinFits = pinned === undefined || pinned === 'left' || pinned === 'right';
  return typeof name === 'string' && widthFits && pinFits;
}

/** AG Grid's states as arrangements. */
export function arrangementsOf(states: readonly ColumnState[]): Arrangement[] {
  return states
    .filter(({ colId }) => colId !== NUMBERS)
    .map(({ colId, width, hide, pinned }) => ({
      name: colId,
      ...(width ? { width } : {}),
      ...(hide ? { hidden: true } : {}),
      ...(pinned ? { pinned: pinned === 'right' ? 'right' : 'left' } : {}),
    }));
}

/** Arrangements as AG Grid wants them. */
export function statesOf(arrangements: readonly Arrangement[]): ColumnState[] {
  const states = arrangements.map(({ name, width, hidden, pinned }) => ({
    colId: name,
    ...(width ? { width } : {}),
    hide: hidden ?? false,
    pinned: pinned ?? null,
  }));
  return [{ colId: NUMBERS, pinned: 'left' }, ...states];
}
