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

/**
 * The arrangements of now, and before them those of columns that are away: each stays behind the
 * one that it came after, so that it is there when the column comes back.
 */
export function merged(
  before: readonly Arrangement[],
  now: readonly Arrangement[],
): readonly Arrangement[] {
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
 * A table's columns as they were arranged. One that nobody has arranged, a new one mostly, comes
 * after the column that it follows in the table itself.
 */
export function ordered(
  names: readonly string[],
  arranged: readonly Arrangement[],
): readonly (Arrangement | string)[] {
  const result: (Arrangement | string)[] = arranged.filter(({ name }) => names.includes(name));
  const nameOf = (one: Arrangement | string): string => (typeof one === 'string' ? one : one.name);
  names.forEach((name, index) => {
    if (result.some((one) => nameOf(one) === name)) return;
    const neighbour = names[index - 1];
    result.splice(result.findIndex((one) => nameOf(one) === neighbour) + 1, 0, name);
  });
  return result;
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

/** Arrangements as AG Grid wants them; of a column by its name alone only the place. */
export function statesOf(arrangements: readonly (Arrangement | string)[]): ColumnState[] {
  const states = arrangements.map((one) =>
    typeof one === 'string' ? { colId: one } : stateOf(one),
  );
  return [{ colId: NUMBERS, pinned: 'left' }, ...states];
}

function stateOf({ name, width, hidden, pinned }: Arrangement): ColumnState {
  return {
    colId: name,
    ...(width ? { width } : {}),
    hide: hidden ?? false,
    pinned: pinned ?? null,
  };
}
