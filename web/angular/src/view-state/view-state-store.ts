import { signal, type Signal } from '@angular/core';
import type { Column, Condition } from '@evergrid/client';
import { isByTime } from '../window/window-placement.js';
import { ChangeGuard } from './change-guard.js';
import {
  orderAfterClick,
  sameViewState,
  withChange,
  withCondition,
  type ViewState,
  type ViewStateChange,
} from './view-state.js';

export interface ViewStateHost {
  readonly columns: Signal<readonly Column[]>;
  /** The table itself changed the state. */
  viewStateChanged(before: ViewState, after: ViewState): void;
}

/** Holds the view state of a table, and changes it. */
export class ViewStateStore {
  readonly state = signal<ViewState>({});
  private readonly guard = new ChangeGuard();

  constructor(private readonly host: ViewStateHost) {}

  /** Takes a state from the app; false if it is the present one or an echo of one from here. */
  adopt(state: ViewState): boolean {
    if (this.guard.isEcho(state) || sameViewState(state, this.state())) return false;
    this.state.set(withChange(state, {}));
    return true;
  }

  /** Changes the state; false if the change has no effect. */
  change(change: ViewStateChange): boolean {
    const before = this.state();
    const next = withChange(before, change);
    if (sameViewState(before, next)) return false;
    this.state.set(next);
    this.guard.emitted(next);
    this.host.viewStateChanged(before, next);
    return true;
  }

  search(search: string): void {
    this.change({ search, position: undefined });
  }

  /** With `more` the column is added to the order instead of replacing it. */
  sort(column: string, more: boolean): void {
    const order = orderAfterClick(this.state().order, column, more);
    const follow = this.state().follow && isByTime(order, this.host.columns());
    this.change({ order, position: undefined, follow: follow || undefined });
  }

  filter(column: string, condition: Condition | undefined): void {
    const filters = withCondition(this.state().filters, column, condition);
    this.change({ filters, position: undefined });
  }

  clearFilters(): void {
    this.change({ filters: undefined, search: undefined, position: undefined });
  }

  /** Back to all rows in the table's own order, a query that no gateway refuses. */
  clearQuery(): void {
    this.change({ filters: undefined, search: undefined, order: undefined, position: undefined });
  }
}
