import type { CellKeyDownEvent, GridApi } from 'ag-grid-community';
import type { Column } from '@evergrid/client';
import { CellRange, type CellPosition } from './cell-range.js';
import {
  columnDefs,
  ROW_NUMBER,
  rowNumberWidth,
  type CellContext,
  type ColumnDefaults,
} from './column-defs.js';
import { diffContent } from './content-diff.js';
import { exact } from '../format/format.js';
import { CellFlasher } from './cell-flasher.js';
import { createTableGrid } from './create-grid.js';
import { GridContent } from './grid-content.js';
import { GridScroller } from './grid-scroller.js';
import type { HeaderContext } from './header-cell.js';
import type { Span } from '../window/window-placement.js';

/** Pixels for the vertical scrollbar. */
const SCROLLBAR_WIDTH = 18;

const MOVE_KEYS = /^(Arrow|Page|Home|End)/;

/** What happens in the grid. */
export interface GridEvents extends HeaderContext {
  /** Other lines are visible, for whatever reason. */
  scrolled(visible: Span): void;
  /** The user scrolled, as opposed to `scrollTo`. */
  userScrolled(direction: 'up' | 'down'): void;
  resized(): void;
  rowOpened(line: number): void;
  copyRequested(range: CellRange): void;
  /** The user moved, resized, pinned, showed or hid a column. */
  columnsArranged(): void;
}

/** Shows contents in AG Grid, and draws only what has changed. */
export class GridRenderer implements CellContext {
  readonly api: GridApi;
  content = GridContent.EMPTY;
  private readonly flasher: CellFlasher;
  private readonly destroyed = new AbortController();
  private range: CellRange | undefined;
  /** Whether the last move was made with Shift, which extends the range. */
  private extending = false;
  private columns: readonly Column[] = [];
  private readonly scroller: GridScroller;
  private hovered: EventTarget | null = null;
  private rowNumberWidth = 0;

  constructor(
    private readonly host: HTMLElement,
    nonce: string | null,
    label: string,
    private readonly events: GridEvents,
  ) {
    this.api = createTableGrid(host, nonce, label, {
      onBodyScroll: ({ direction }) =>
        direction === 'vertical' && this.events.scrolled(this.visible()),
      onViewportChanged: () => this.events.scrolled(this.visible()),
      onCellFocused: () => this.select(),
      onCellKeyDown: (event) => this.keyPressed(event as CellKeyDownEvent),
      onCellDoubleClicked: ({ rowIndex, column }) => {
        if (rowIndex !== null && column.getColId() !== ROW_NUMBER) this.events.rowOpened(rowIndex);
      },
      onCellClicked: ({ rowIndex, column, event }) => {
        const plain = event instanceof MouseEvent && !event.shiftKey;
        if (plain && rowIndex !== null && column.getColId() === ROW_NUMBER) {
          this.events.rowOpened(rowIndex);
        }
      },
      onColumnMoved: ({ finished, source }) =>
        finished && source !== 'api' && this.events.columnsArranged(),
      onColumnResized: ({ finished, source }) =>
        finished && source !== 'api' && this.events.columnsArranged(),
      onColumnPinned: ({ source }) => source !== 'api' && this.events.columnsArranged(),
    });
    this.flasher = new CellFlasher(host);
    this.scroller = new GridScroller(host, this.api);
    this.listen();
  }

  /** Draws the changes from the present content to this one. */
  show(content: GridContent): void {
    const before = this.content;
    this.content = content;
    if (content.lines !== before.lines) {
      const restoreTopLine = this.scroller.keepTopLine(before.lines, content.lines);
      this.api.setRowCount(content.lines, true);
      restoreTopLine();
    }
    this.fitRowNumbers(content.snapshot?.total ?? 0);
    const nodes = this.api.getRenderedNodes();
    const shifted = content.shift !== before.shift;
    const drawn = nodes.flatMap(({ rowIndex }) => (rowIndex === null ? [] : [rowIndex]));
    const { lines, replaced, cells } = diffContent(before, content, drawn);
    if (!lines.size && !shifted) return;
    const rowNodes = nodes.filter((node) => shifted || lines.has(node.rowIndex ?? -1));
    this.api.refreshCells({ rowNodes, suppressFlash: true });
    this.flasher.mark(cells, replaced);
    this.updateTooltip();
  }

  setColumns(columns: readonly Column[], defaults: ColumnDefaults): void {
    this.columns = columns;
    this.api.setGridOption('columnDefs', columnDefs(columns, this, defaults));
    this.clearSelection();
  }

  /** The positions in the result of the first and last visible line. */
  visible(): Span {
    const { first, last } = this.scroller.visible(this.content.lines);
    return { first: this.content.positionOf(first), last: this.content.positionOf(last) };
  }

  /** Ends the shift of lines against rows that following the newest made; the screen stays. */
  releaseLines(): void {
    const { snapshot, paged, shift } = this.content;
    if (paged || !shift) return;
    const first = this.scroller.topLine(this.content.lines);
    this.show(new GridContent(snapshot, false));
    this.scrollTo(first + shift);
  }

  scrollTo(line: number): void {
    this.scroller.toLine(line, this.content.lines);
  }

  scrollToEnd(): void {
    this.scroller.toEnd(this.content.lines);
  }

  isAtEnd(): boolean {
    return this.scroller.isAtEnd();
  }

  /** Pixels for columns, beside the row numbers. */
  columnSpace(total: number): number {
    return this.host.clientWidth - rowNumberWidth(total) - SCROLLBAR_WIDTH;
  }

  shownColumns(): string[] {
    return this.api.getAllDisplayedColumns().map((column) => column.getColId());
  }

  clearSelection(): void {
    if (!this.range) return;
    this.range = undefined;
    this.api.refreshCells({ suppressFlash: true });
  }

  destroy(): void {
    this.destroyed.abort();
    this.flasher.destroy();
    this.api.destroy();
  }

  isSelected(line: number, column: string): boolean {
    return this.range !== undefined && !this.range.isOneCell && this.range.has(line, column);
  }

  orderOf = (column: string) => this.events.orderOf(column);
  isFiltered = (column: string) => this.events.isFiltered(column);
  sort = (column: string, more: boolean) => this.events.sort(column, more);
  openFilter = (column: string, anchor: HTMLElement) => this.events.openFilter(column, anchor);
  onChange = (listener: () => void) => this.events.onChange(listener);

  private fitRowNumbers(total: number): void {
    const newWidth = rowNumberWidth(total);
    if (newWidth === this.rowNumberWidth) return;
    this.rowNumberWidth = newWidth;
    this.api.setColumnWidths([{ key: ROW_NUMBER, newWidth }]);
  }

  /** Selects the focused cell. AG Grid's event is late, so a copy calls this first. */
  private select(): void {
    const cell = this.api.getFocusedCell();
    if (!cell || cell.rowPinned) return;
    const end: CellPosition = { line: cell.rowIndex, column: cell.column.getColId() };
    const anchor = this.extending && this.range ? this.range.anchor : end;
    const wasOneCell = this.range?.isOneCell ?? true;
    this.range = new CellRange(anchor, end, this.shownColumns(), anchor.column === ROW_NUMBER);
    if (!wasOneCell || !this.range.isOneCell) this.api.refreshCells({ suppressFlash: true });
  }

  private keyPressed({ event, rowIndex }: CellKeyDownEvent): void {
    if (!(event instanceof KeyboardEvent) || rowIndex === null) return;
    if (event.key === 'Enter') this.events.rowOpened(rowIndex);
    const copies = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c';
    if (copies) {
      event.preventDefault();
      this.select();
      if (this.range) this.events.copyRequested(this.range);
    }
    if (event.key === 'Escape') this.clearSelection();
  }

  private listen(): void {
    const options = { signal: this.destroyed.signal, capture: true };
    const extend = (event: MouseEvent | KeyboardEvent): void => {
      if (event instanceof MouseEvent || MOVE_KEYS.test(event.key)) this.extending = event.shiftKey;
    };
    this.host.addEventListener('keydown', extend, options);
    this.host.addEventListener('mousedown', extend, options);
    const onHover = (event: MouseEvent): void => {
      this.hovered = event.target;
      this.updateTooltip();
    };
    this.host.addEventListener('mouseover', onHover, options);
    const { signal } = this.destroyed;
    this.scroller.onUserScroll((direction) => this.events.userScrolled(direction), signal);
    this.scroller.onResize(() => this.events.resized(), signal);
  }

  /** Sets the exact value as the tooltip of the cell under the pointer, and of no other. */
  private updateTooltip(): void {
    const { hovered } = this;
    const cell = hovered instanceof Element ? hovered.closest<HTMLElement>('.ag-cell') : null;
    const line = Number(cell?.closest('.ag-row')?.getAttribute('row-index') ?? NaN);
    const name = cell?.getAttribute('col-id');
    if (!cell || !name || Number.isNaN(line)) return;
    const column = this.columns.find((one) => one.name === name);
    const row = this.content.rowAt(line);
    if (name === ROW_NUMBER) cell.title = 'Show the whole row';
    else cell.title = column && row ? exact(row[name], column.type) : '';
  }
}
