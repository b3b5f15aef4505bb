import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { iconElement } from '../icon/icon.js';

/** A column's part in the order; `rank` is 1 for the first column. */
export interface ColumnOrder {
  readonly rank: number;
  readonly isOnly: boolean;
  readonly descending: boolean;
}

/** What headers read of the table, and do with it. */
export interface HeaderContext {
  orderOf(column: string): ColumnOrder | undefined;
  isFiltered(column: string): boolean;
  /** With `more` the column is added to the order instead of replacing it. */
  sort(column: string, more: boolean): void;
  openFilter(column: string, anchor: HTMLElement): void;
  /** Calls after changes of order or filters. Returns the unsubscriber. */
  onChange(listener: () => void): () => void;
}

export interface HeaderParams extends IHeaderParams {
  readonly context: HeaderContext;
  readonly numeric: boolean;
  readonly kind: string;
}

/**
 * A column's header: a click on the name orders by it, the button opens its filter.
 * Plain elements, because AG Grid creates and destroys headers at any time.
 */
export class HeaderCell implements IHeaderComp {
  private params!: HeaderParams;
  private readonly gui = document.createElement('div');
  private readonly label = document.createElement('span');
  private readonly arrow = document.createElement('span');
  private readonly button = document.createElement('button');
  private readonly destroyed = new AbortController();
  private unsubscribe = (): void => {};

  init(params: HeaderParams): void {
    this.params = params;
    this.gui.className = 'eg-header';
    this.label.className = 'eg-header-label';
    this.arrow.className = 'eg-header-arrow';
    this.button.className = 'eg-header-filter';
    this.button.type = 'button';
    this.button.tabIndex = -1;
    this.button.append(iconElement('filter'));
    this.gui.append(this.label, this.arrow, this.button);
    this.listen();
    this.unsubscribe = params.context.onChange(() => this.show());
    this.show();
  }

  getGui(): HTMLElement {
    return this.gui;
  }

  refresh(params: HeaderParams): boolean {
    this.params = params;
    this.show();
    return true;
  }

  destroy(): void {
    this.unsubscribe();
    this.destroyed.abort();
  }

  private get column(): string {
    return this.params.column.getColId();
  }

  private listen(): void {
    const { signal } = this.destroyed;
    const { context, eGridHeader } = this.params;
    this.gui.addEventListener('click', (event) => context.sort(this.column, event.shiftKey), {
      signal,
    });
    const openFilter = (event: Event): void => {
      event.stopPropagation();
      context.openFilter(this.column, this.gui);
    };
    this.button.addEventListener('click', openFilter, { signal });
    const keys = (event: KeyboardEvent): void => {
      const filter = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
      if (filter || (event.key === 'ArrowDown' && event.altKey)) openFilter(event);
      else if (event.key === 'Enter') context.sort(this.column, event.shiftKey);
      else return;
      event.preventDefault();
    };
    eGridHeader.addEventListener('keydown', keys, { signal });
  }

  private show(): void {
    const { context, displayName, eGridHeader, kind, numeric } = this.params;
    const order = context.orderOf(this.column);
    const filtered = context.isFiltered(this.column);
    this.gui.classList.toggle('eg-header-numeric', numeric);
    this.label.textContent = displayName;
    this.gui.title = `${displayName} (${kind})\nClick to order, with Shift by several columns`;
    this.arrow.replaceChildren();
    if (order) this.arrow.append(iconElement(order.descending ? 'down' : 'up'));
    if (order && !order.isOnly) this.arrow.append(String(order.rank));
    this.button.classList.toggle('eg-active', filtered);
    this.button.title = filtered ? 'Change the filter' : 'Filter';
    this.button.setAttribute('aria-label', `Filter ${displayName}`);
    // AG Grid removes the attribute after it creates or refreshes a header.
    queueMicrotask(() => eGridHeader.setAttribute('aria-sort', ariaSort(order)));
    const hint = `${displayName}, ${kind}${filtered ? ', filtered' : ''}`;
    eGridHeader.setAttribute('aria-label', hint);
    eGridHeader.setAttribute('aria-keyshortcuts', 'Enter Control+Enter');
  }
}

function ariaSort(order: ColumnOrder | undefined): string {
  if (!order) return 'none';
  return order.descending ? 'descending' : 'ascending';
}
