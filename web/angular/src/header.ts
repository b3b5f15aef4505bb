import type { IHeaderComp, IHeaderParams } from 'ag-grid-community';
import { icon } from './icons.js';

/** How a column is ordered: 1 for the first column of the order, and which way. */
export interface ColumnOrder {
  readonly rank: number;
  readonly alone: boolean;
  readonly descending: boolean;
}

/** What headers know of the table, and what they ask of it. */
export interface HeaderDesk {
  orderOf(column: string): ColumnOrder | undefined;
  isFiltered(column: string): boolean;
  /** With `more` the column joins the order instead of replacing it. */
  sort(column: string, more: boolean): void;
  openFilter(column: string, anchor: HTMLElement): void;
  /** Tells when order or filters are others. Gives back what ends that. */
  onChange(listener: () => void): () => void;
}

export interface HeaderParams extends IHeaderParams {
  readonly desk: HeaderDesk;
  readonly numeric: boolean;
  readonly kind: string;
}

/**
 * A column's header: its name orders the table, its button filters it.
 * Plain elements, because AG Grid makes and drops headers whenever it likes.
 */
export class HeaderCell implements IHeaderComp {
  private params!: HeaderParams;
  private readonly gui = document.createElement('div');
  private readonly label = document.createElement('span');
  private readonly arrow = document.createElement('span');
  private readonly button = document.createElement('button');
  private readonly ending = new AbortController();
  private stop = (): void => {};

  init(params: HeaderParams): void {
    this.params = params;
    this.gui.className = 'eg-head';
    this.label.className = 'eg-head-label';
    this.arrow.className = 'eg-head-arrow';
    this.button.className = 'eg-head-filter';
    this.button.type = 'button';
    this.button.tabIndex = -1;
    this.button.append(icon('filter'));
    this.gui.append(this.label, this.arrow, this.button);
    this.listen();
    this.stop = params.desk.onChange(() => this.show());
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
    this.stop();
    this.ending.abort();
  }

  private get column(): string {
    return this.params.column.getColId();
  }

  private listen(): void {
    const { signal } = this.ending;
    const { desk, eGridHeader } = this.params;
    this.gui.addEventListener('click', (event) => desk.sort(this.column, event.shiftKey), {
      signal,
    });
    const openFilter = (event: Event): void => {
      event.stopPropagation();
      desk.openFilter(this.column, this.gui);
    };
    this.button.addEventListener('click', openFilter, { signal });
    const keys = (event: KeyboardEvent): void => {
      const filter = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
      if (filter || (event.key === 'ArrowDown' && event.altKey)) openFilter(event);
      else if (event.key === 'Enter') desk.sort(this.column, event.shiftKey);
      else return;
      event.preventDefault();
    };
    eGridHeader.addEventListener('keydown', keys, { signal });
  }

  private show(): void {
    const { desk, displayName, eGridHeader, kind, numeric } = this.params;
    const order = desk.orderOf(this.column);
    const filtered = desk.isFiltered(this.column);
    this.gui.classList.toggle('eg-head-numeric', numeric);
    this.label.textContent = displayName;
    this.gui.title = `${displayName} (${kind})\nClick to order, with Shift by several columns`;
    this.arrow.replaceChildren();
    if (order) this.arrow.append(icon(order.descending ? 'down' : 'up'));
    if (order && !order.alone) this.arrow.append(String(order.rank));
    this.button.classList.toggle('eg-on', filtered);
    this.button.title = filtered ? 'Change the filter' : 'Filter';
    this.button.setAttribute('aria-label', `Filter ${displayName}`);
    // AG Grid takes the attribute away once it has made or refreshed a header.
    queueMicrotask(() => eGridHeader.setAttribute('aria-sort', sortWord(order)));
    const hint = `${displayName}, ${kind}${filtered ? ', filtered' : ''}`;
    eGridHeader.setAttribute('aria-label', hint);
    eGridHeader.setAttribute('aria-keyshortcuts', 'Enter Control+Enter');
  }
}

function sortWord(order: ColumnOrder | undefined): string {
  if (!order) return 'none';
  return order.descending ? 'descending' : 'ascending';
}
