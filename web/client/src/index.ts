/** Live tables of an Evergrid gateway, in any page. */

export { connect } from './client.js';
export { EvergridError } from './errors.js';
export type * from './types.js';
