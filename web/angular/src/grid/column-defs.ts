import type { ColDef, ValueFormatterParams, ValueGetterParams } from 'ag-grid-community';
import type { Column, Row, Value } from '@evergrid/client';
import { formatted, isNumeric } from '../format/format.js';
import { HeaderCell, type HeaderContext } from './header-cell.js';
import type { GridContent } from './grid-content.js';

/** The column with the row numbers. No column of a table can have this name. */
export const ROW_NUMBER = '#';

/** Pixels for the number of the last row. */
export function rowNumberWidth(total: number): number {
  return 24 + Math.max(3, count.format(total).length) * 7;
}

const count = new Intl.NumberFormat();

/** What cells read. */
export interface CellContext extends HeaderContext {
  readonly content: GridContent;
  isSelected(line: number, column: string): boolean;
}

export interface ColumnDefaults {
  /** Columns to show at first; default: all except trace columns. */
  readonly columns?: readonly string[] | undefined;
  widthOf(column: Column): number;
}

/** AG Grid's definitions of a table's columns, after the column of row numbers. */
export function columnDefs(
  columns: readonly Column[],
  context: CellContext,
  defaults: ColumnDefaults,
): ColDef[] {
  return [
    rowNumberDef(context),
    ...initialOrder(columns, defaults.columns).map((one) => columnDef(one, context, defaults)),
  ];
}

/** Whether a column is visible before the user arranges columns. */
export function isShownAtFirst(column: Column, wanted: readonly string[] | undefined): boolean {
  return wanted?.length ? wanted.includes(column.name) : column.role !== 'trace';
}

/** The wanted columns in their order, then the others. */
export function initialOrder(
  columns: readonly Column[],
  wanted: readonly string[] | undefined,
): readonly Column[] {
  if (!wanted?.length) return columns;
  const first = wanted.flatMap((name) => columns.filter((one) => one.name === name));
  return [...first, ...columns.filter((one) => !wanted.includes(one.name))];
}

function columnDef(column: Column, context: CellContext, defaults: ColumnDefaults): ColDef {
  const { name, type } = column;
  const numeric = isNumeric(type);
  return {
    colId: name,
    headerName: name,
    headerComponent: HeaderCell,
    headerComponentParams: { context, numeric, kind: type.kind },
    valueGetter: ({ node }: ValueGetterParams<Row>) => cellValue(context, node?.rowIndex, name),
    valueFormatter: cellText(column),
    cellClass: cellClasses(column),
    cellClassRules: {
      'eg-null': ({ value }) => value === null,
      'eg-selected': ({ rowIndex }) => context.isSelected(rowIndex, name),
    },
    initialHide: !isShownAtFirst(column, defaults.columns),
    initialWidth: defaults.widthOf(column),
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

function cellValue(
  context: CellContext,
  line: number | null | undefined,
  name: string,
): Value | undefined {
  return typeof line === 'number' ? context.content.rowAt(line)?.[name] : undefined;
}

/** The formatter of a column's cells; empty while the row is loading. */
export function cellText(column: Column): (params: ValueFormatterParams) => string {
  const { type } = column;
  if (type.kind === 'integer' && isIdentifier(column)) {
    return ({ value }) => (value === undefined ? '' : value === null ? '–' : String(value));
  }
  return ({ value }) => (value === undefined ? '' : formatted(value as Value, type));
}

/** Identifiers are shown without digit grouping. */
function isIdentifier({ name, role }: Column): boolean {
  return role === 'trace' || /(^|_)id$|Id$|ID$/.test(name);
}

function rowNumberDef(context: CellContext): ColDef {
  return {
    colId: ROW_NUMBER,
    headerName: ROW_NUMBER,
    headerClass: 'eg-row-number-header',
    valueGetter: ({ node }: ValueGetterParams<Row>) =>
      node && typeof node.rowIndex === 'number'
        ? context.content.positionOf(node.rowIndex) + 1
        : null,
    valueFormatter: ({ value }) => (value === null ? '' : count.format(value as number)),
    cellClass: 'eg-cell eg-row-number',
    cellClassRules: { 'eg-selected': ({ rowIndex }) => context.isSelected(rowIndex, ROW_NUMBER) },
    pinned: 'left',
    lockPinned: true,
    lockPosition: 'left',
    suppressMovable: true,
    resizable: false,
    sortable: false,
    width: rowNumberWidth(context.content.snapshot?.total ?? 0),
    cellDataType: false,
  };
}
