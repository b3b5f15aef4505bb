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
import { ROW_HEIGHT, THEME } from './theme.js';

/** Lines that are drawn above and below what is seen. */
export const DRAWN_AROUND = 8;

const BLOCK_LINES = 500;

/** Lines hold nothing: their cells read the newest sheet, so that no cache can show old rows. */
const LINE = Object.freeze({});

/** For those who cannot see what a pointer would do. */
const HINT =
  'In a header, Enter orders and Control Enter filters. In a cell, Enter opens the row, Control C copies.';

const MODULES = [
  CellStyleModule,
  ColumnApiModule,
  InfiniteRowModelModule,
  RenderApiModule,
  RowApiModule,
  ScrollApiModule,
];

/** AG Grid with as many lines as are set, whose cells are asked for when they are drawn. */
export function makeGrid(
  host: HTMLElement,
  nonce: string | null,
  label: string,
  listeners: GridOptions,
): GridApi {
  const options: GridOptions = {
    theme: THEME,
    rowHeight: ROW_HEIGHT,
    rowModelType: 'infinite',
    datasource: { getRows },
    cacheBlockSize: BLOCK_LINES,
    maxBlocksInCache: 6,
    infiniteInitialRowCount: 0,
    rowBuffer: DRAWN_AROUND,
    columnDefs: [],
    maintainColumnOrder: true,
    suppressDragLeaveHidesColumns: true,
    suppressNoRowsOverlay: true,
    alwaysShowVerticalScroll: true,
    animateRows: false,
    // Arrows go from cell to cell. Tab must lead out: a table has more cells than one can tab through.
    tabToNextCell: () => false,
    tabToNextHeader: () => false,
    ...(nonce ? { styleNonce: nonce } : {}),
    ...listeners,
  };
  const api = createGrid(host, options, { modules: MODULES });
  api.setGridAriaProperty('label', label);
  api.setGridAriaProperty('description', HINT);
  return api;
}

function getRows({ successCallback }: IGetRowsParams): void {
  successCallback(new Array<object>(BLOCK_LINES).fill(LINE));
}
