/** Live tables of an Evergrid gateway, for Angular. */

export { streamTable, type TableStream } from '@evergrid/client/rxjs';
export {
  exact,
  formatted,
  formatter,
  isNumeric,
  isoTime,
  type Formatter,
  type Manners,
} from './format.js';
export { LiveTable, type RowOpened } from './live-table.js';
export type { Look } from './look.js';
export { EVERGRID_CLIENT, provideEvergrid } from './provide.js';
