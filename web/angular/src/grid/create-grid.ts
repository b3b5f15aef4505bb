import {
  CellStyleModule,
  ColumnApiModule,
  createGrid,
  InfiniteRowModelModule,
  RenderApiModule,
  RowApiModule,
  ScrollApiModule,
  type GridApi,
  type GridOptions,
  type IGetRowsParams,
} from 'ag-grid-community';
import { GRID_THEME, ROW_HEIGHT } from './grid-theme.js';

/** Lines that are drawn above and below the visible ones. */
export const ROW_BUFFER = 8;

const BLOCK_LINES = 500;

/** AG Grid's rows are empty: cells read the newest content, so that no cache shows old rows. */
const EMPTY_ROW = Object.freeze({});

/** For screen readers. */
const DESCRIPTION =
  'In a header, Enter orders and Control Enter filters. In a cell, Enter opens the row, Control C copies.';

const MODULES = [
  CellStyleModule,
  ColumnApiModule,
  InfiniteRowModelModule,
  RenderApiModule,
  RowApiModule,
  ScrollApiModule,
];

/** An AG Grid with a given number of lines, whose cells are read when they are drawn. */
export function createTableGrid(
  host: HTMLElement,
  nonce: string | null,
  label: string,
  listeners: GridOptions,
): GridApi {
  const options: GridOptions = {
    theme: GRID_THEME,
    rowHeight: ROW_HEIGHT,
    rowModelType: 'infinite',
    datasource: { getRows },
    cacheBlockSize: BLOCK_LINES,
    maxBlocksInCache: 6,
    infiniteInitialRowCount: 0,
    rowBuffer: ROW_BUFFER,
    columnDefs: [],
    maintainColumnOrder: true,
    suppressDragLeaveHidesColumns: true,
    suppressNoRowsOverlay: true,
    alwaysShowVerticalScroll: true,
    animateRows: false,
    // Arrow keys move between cells. Tab leaves the grid, which has too many cells to tab through.
    tabToNextCell: () => false,
    tabToNextHeader: () => false,
    ...(nonce ? { styleNonce: nonce } : {}),
    ...listeners,
  };
  const api = createGrid(host, options, { modules: MODULES });
  api.setGridAriaProperty('label', label);
  api.setGridAriaProperty('description', DESCRIPTION);
  return api;
}

function getRows({ successCallback }: IGetRowsParams): void {
  successCallback(new Array<object>(BLOCK_LINES).fill(EMPTY_ROW));
}
