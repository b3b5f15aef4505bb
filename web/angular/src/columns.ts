import type { ColDef, ValueFormatterParams, ValueGetterParams } from 'ag-grid-community';
import type { Column, Row, Value } from '@evergrid/client';
import { formatted, isNumeric } from './format.js';
import { HeaderCell, type HeaderDesk } from './header.js';
import type { Sheet } from './sheet.js';

/** The column with the rows' numbers. No column of a table can have this name. */
export const NUMBERS = '#';

/** Pixels for the number of the last row. */
export function numbersWidth(total: number): number {
  return 24 + Math.max(3, count.format(total).length) * 7;
}

const count = new Intl.NumberFormat();

/** Where cells read, and what they know of the table around them. */
export interface CellDesk extends HeaderDesk {
  readonly sheet: Sheet;
  isPicked(line: number, column: string): boolean;
}

export interface Shown {
  /** Columns to show at first; left out: all that are not mere traces. */
  readonly columns?: readonly string[] | undefined;
  widthOf(column: Column): number;
}

/** AG Grid's definitions of a table's columns, with the rows' numbers before them. */
export function columnDefs(columns: readonly Column[], desk: CellDesk, shown: Shown): ColDef[] {
  return [
    numbersDef(desk),
    ...atFirst(columns, shown.columns).map((one) => columnDef(one, desk, shown)),
  ];
}

/** Whether a column is there before anybody has chosen. */
export function isShownAtFirst(column: Column, shown: readonly string[] | undefined): boolean {
  return shown?.length ? shown.includes(column.name) : column.role !== 'trace';
}

/** Those to be shown first come first, in the order asked for. */
export function atFirst(
  columns: readonly Column[],
  wanted: readonly string[] | undefined,
): readonly Column[] {
  if (!wanted?.length) return columns;
  const first = wanted.flatMap((name) => columns.filter((one) => one.name === name));
  return [...first, ...columns.filter((one) => !wanted.includes(one.name))];
}

function columnDef(column: Column, desk: CellDesk, shown: Shown): ColDef {
  const { name, type } = column;
  const numeric = isNumeric(type);
  return {
    colId: name,
    headerName: name,
    headerComponent: HeaderCell,
    headerComponentParams: { desk, numeric, kind: type.kind },
    valueGetter: ({ node }: ValueGetterParams<Row>) => cell(desk, node?.rowIndex, name),
    valueFormatter: cellText(column),
    cellClass: cellClasses(column),
    cellClassRules: {
      'eg-null': ({ value }) => value === null,
      'eg-picked': ({ rowIndex }) => desk.isPicked(rowIndex, name),
    },
    initialHide: !isShownAtFirst(column, shown.columns),
    initialWidth: shown.widthOf(column),
    minWidth: 56,
    sortable: false,
    cellDataType: false,
  };
}

function cellClasses({ type, role }: Column): string[] {
  return [
    'eg-cell',
    ...(isNumeric(type) ? ['eg-numeric'] : []),
    ...(role === 'trace' ? ['eg-trace'] : []),
  ];
}

function cell(desk: CellDesk, line: number | null | undefined, name: string): Value | undefined {
  return typeof line === 'number' ? desk.sheet.rowAt(line)?.[name] : undefined;
}

/** What a cell says; nothing while its row is on the way. */
export function cellText(column: Column): (params: ValueFormatterParams) => string {
  const { type } = column;
  if (type.kind === 'integer' && isName(column)) {
    return ({ value }) => (value === undefined ? '' : value === null ? '–' : String(value));
  }
  return ({ value }) => (value === undefined ? '' : formatted(value as Value, type));
}

/** Numbers that name something are not grouped: nobody counts with them. */
function isName({ name, role }: Column): boolean {
  return role === 'trace' || /(^|_)id$|Id$|ID$/.test(name);
}

function numbersDef(desk: CellDesk): ColDef {
  return {
    colId: NUMBERS,
    headerName: NUMBERS,
    headerClass: 'eg-number-head',
    valueGetter: ({ node }: ValueGetterParams<Row>) =>
      node && typeof node.rowIndex === 'number' ? desk.sheet.positionOf(node.rowIndex) + 1 : null,
    valueFormatter: ({ value }) => (value === null ? '' : count.format(value as number)),
    cellClass: 'eg-cell eg-number',
    cellClassRules: { 'eg-picked': ({ rowIndex }) => desk.isPicked(rowIndex, NUMBERS) },
    pinned: 'left',
    lockPinned: true,
    lockPosition: 'left',
    suppressMovable: true,
    resizable: false,
    sortable: false,
    width: numbersWidth(desk.sheet.snapshot?.total ?? 0),
    cellDataType: false,
  };
}
