import type { Condition, OrderBy } from '@evergrid/client';

/**
 * What a person has made of a table: all that a shared link must say to show the same.
 * Plain data, so that it can go into an address and back. What is left out is the default.
 */
export interface Look {
  readonly search?: string;
  readonly order?: readonly OrderBy[];
  /** At most one condition a column; all must hold. */
  readonly filters?: readonly Condition[];
  /** The first row that is shown, counted from 0. */
  readonly position?: number;
  /** Show the newest rows and stay there. */
  readonly follow?: boolean;
  /** Rows a page; left out: one long table that scrolls. */
  readonly page?: number;
}
