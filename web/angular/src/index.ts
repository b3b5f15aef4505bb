/** Live tables of an Evergrid gateway, for Angular: the public API. */

export { streamTable, type TableStream } from '@evergrid/client/rxjs';
export {
  exact,
  formatted,
  formatter,
  isNumeric,
  isoTime,
  type Formatter,
  type FormatOptions,
  /** The earlier name of FormatOptions. */
  type FormatOptions as Manners,
} from './format/format.js';
export { LiveTable, type RowOpened } from './live-table/live-table.js';
export type {
  ViewState,
  /** The earlier name of ViewState. */
  ViewState as Look,
} from './view-state/view-state.js';
export { EVERGRID_CLIENT, provideEvergrid } from './provide-evergrid.js';
