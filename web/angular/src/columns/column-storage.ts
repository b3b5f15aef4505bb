import type { ColumnState } from 'ag-grid-community';
import { ROW_NUMBER } from '../grid/column-defs.js';

/** How the user arranged a column; a list of these is in the order of the columns. */
export interface ColumnArrangement {
  readonly name: string;
  readonly width?: number;
  readonly hidden?: boolean;
  readonly pinned?: 'left' | 'right';
}

/** Stores a table's column arrangement in this browser. */
export class ColumnStorage {
  constructor(private readonly table: string) {}

  private get key(): string {
    return `evergrid.columns.${this.table}`;
  }

  /** The stored arrangement; empty if storage is not available or has invalid data. */
  load(): readonly ColumnArrangement[] {
    try {
      const stored: unknown = JSON.parse(localStorage.getItem(this.key) ?? '[]');
      return Array.isArray(stored) ? stored.filter(isArrangement) : [];
    } catch {
      return [];
    }
  }

  save(arrangements: readonly ColumnArrangement[]): void {
    try {
      localStorage.setItem(this.key, JSON.stringify(arrangements));
    } catch {
      // The table works without storage.
    }
  }

  clear(): void {
    try {
      localStorage.removeItem(this.key);
    } catch {
      // Then nothing is stored.
    }
  }
}

function isArrangement(value: unknown): value is ColumnArrangement {
  if (typeof value !== 'object' || value === null) return false;
  const { name, width, pinned } = value as Partial<Record<keyof ColumnArrangement, unknown>>;
  const widthFits = width === undefined || (typeof width === 'number' && width > 0);
  const pinFits = pinned === undefined || pinned === 'left' || pinned === 'right';
  return typeof name === 'string' && widthFits && pinFits;
}

/**
 * The present arrangements with the earlier ones of columns that the table does not have now: each
 * stays after its earlier neighbour, for when the column returns.
 */
export function mergeArrangements(
  before: readonly ColumnArrangement[],
  now: readonly ColumnArrangement[],
): readonly ColumnArrangement[] {
  const names = new Set(now.map(({ name }) => name));
  const result = [...now];
  before.forEach((one, index) => {
    if (names.has(one.name)) return;
    const neighbour = before[index - 1]?.name;
    result.splice(result.findIndex(({ name }) => name === neighbour) + 1, 0, one);
  });
  return result;
}

/**
 * A table's columns in their arranged order. A column without an arrangement, usually a new one,
 * comes after the column that it follows in the table itself.
 */
export function orderColumns(
  names: readonly string[],
  arranged: readonly ColumnArrangement[],
): readonly (ColumnArrangement | string)[] {
  const result: (ColumnArrangement | string)[] = arranged.filter(({ name }) =>
    names.includes(name),
  );
  const nameOf = (one: ColumnArrangement | string): string =>
    typeof one === 'string' ? one : one.name;
  names.forEach((name, index) => {
    if (result.some((one) => nameOf(one) === name)) return;
    const neighbour = names[index - 1];
    result.splice(result.findIndex((one) => nameOf(one) === neighbour) + 1, 0, name);
  });
  return result;
}

/** Arrangements from AG Grid's column states. */
export function arrangementsOf(states: readonly ColumnState[]): ColumnArrangement[] {
  return states
    .filter(({ colId }) => colId !== ROW_NUMBER)
    .map(({ colId, width, hide, pinned }) => ({
      name: colId,
      ...(width ? { width } : {}),
      ...(hide ? { hidden: true } : {}),
      ...(pinned ? { pinned: pinned === 'right' ? 'right' : 'left' } : {}),
    }));
}

/** AG Grid's column states from arrangements; a plain name has only its place. */
export function statesOf(arrangements: readonly (ColumnArrangement | string)[]): ColumnState[] {
  const states = arrangements.map((one) =>
    typeof one === 'string' ? { colId: one } : stateOf(one),
  );
  return [{ colId: ROW_NUMBER, pinned: 'left' }, ...states];
}

function stateOf({ name, width, hidden, pinned }: ColumnArrangement): ColumnState {
  return {
    colId: name,
    ...(width ? { width } : {}),
    hide: hidden ?? false,
    pinned: pinned ?? null,
  };
}
