import type { CellKeyDownEvent, GridApi } from 'ag-grid-community';
import type { Column } from '@evergrid/client';
import { Block, type Corner } from './block.js';
import { columnDefs, NUMBERS, numbersWidth, type CellDesk, type Shown } from './columns.js';
import { difference } from './difference.js';
import { exact } from './format.js';
import { Flasher } from './flash.js';
import { DRAWN_AROUND, makeGrid } from './grid.js';
import type { HeaderDesk } from './header.js';
import { Sheet } from './sheet.js';
import { ROW_HEIGHT } from './theme.js';
import type { Span } from './window.js';

/** Kept free for a scrollbar, wide or not. */
const SCROLLBAR = 18;

const MOVES = /^(Arrow|Page|Home|End)/;

/** What happens in the grid. */
export interface GridEvents extends HeaderDesk {
  /** Other lines are seen, whatever the reason. */
  scrolled(seen: Span): void;
  /** Somebody scrolled: it was not `scrollTo`. */
  pulled(way: 'up' | 'down'): void;
  resized(): void;
  opened(line: number): void;
  copied(block: Block): void;
  /** Somebody moved, resized, pinned, showed or hid a column. */
  arranged(): void;
}

/** Shows sheets in AG Grid, and draws only what is other than before. */
export class GridViewer implements CellDesk {
  readonly api: GridApi;
  sheet = Sheet.EMPTY;
  private readonly flasher: Flasher;
  private readonly ending = new AbortController();
  private block: Block | undefined;
  /** Whether the last move was made with Shift: it picks more, where others begin anew. */
  private extending = false;
  private columns: readonly Column[] = [];
  private readonly scroller: Element | null;
  private hovered: EventTarget | null = null;
  private top = 0;
  private numbers = 0;
  /** How many lines there were when we were last at their end; -1 if we are not known to be. */
  private endsAt = -1;

  constructor(
    private readonly host: HTMLElement,
    nonce: string | null,
    label: string,
    private readonly events: GridEvents,
  ) {
    this.api = makeGrid(host, nonce, label, {
      onBodyScroll: ({ direction }) =>
        direction === 'vertical' && this.events.scrolled(this.seen()),
      onViewportChanged: () => this.events.scrolled(this.seen()),
      onGridSizeChanged: () => {
        this.endsAt = -1;
        this.events.resized();
      },
      onCellFocused: () => this.pick(),
      onCellKeyDown: (event) => this.pressed(event as CellKeyDownEvent),
      onCellDoubleClicked: ({ rowIndex, column }) => {
        if (rowIndex !== null && column.getColId() !== NUMBERS) this.events.opened(rowIndex);
      },
      onCellClicked: ({ rowIndex, column, event }) => {
        const plain = event instanceof MouseEvent && !event.shiftKey;
        if (plain && rowIndex !== null && column.getColId() === NUMBERS) {
          this.events.opened(rowIndex);
        }
      },
      onColumnMoved: ({ finished, source }) =>
        finished && source !== 'api' && this.events.arranged(),
      onColumnResized: ({ finished, source }) =>
        finished && source !== 'api' && this.events.arranged(),
      onColumnPinned: ({ source }) => source !== 'api' && this.events.arranged(),
    });
    this.flasher = new Flasher(host);
    this.scroller = host.querySelector('.ag-grid-viewport');
    this.listen();
  }

  /** Draws what is other in this sheet. */
  show(sheet: Sheet): void {
    const before = this.sheet;
    this.sheet = sheet;
    if (sheet.lines !== before.lines) {
      this.api.setRowCount(sheet.lines, true);
    }
    this.fitNumbers(sheet.snapshot?.total ?? 0);
    const nodes = this.api.getRenderedNodes();
    const shifted = sheet.shift !== before.shift;
    const drawn = nodes.flatMap(({ rowIndex }) => (rowIndex === null ? [] : [rowIndex]));
    const { lines, replaced, cells } = difference(before, sheet, drawn);
    if (!lines.size && !shifted) return;
    const rowNodes = nodes.filter((node) => shifted || lines.has(node.rowIndex ?? -1));
    this.api.refreshCells({ rowNodes, suppressFlash: true });
    this.flasher.mark(cells, replaced);
    this.explain();
  }

  setColumns(columns: readonly Column[], shown: Shown): void {
    this.columns = columns;
    this.api.setGridOption('columnDefs', columnDefs(columns, this, shown));
    this.unpick();
  }

  /** The first and last line of which anything is seen, as rows of the view. */
  seen(): Span {
    const { first, last } = this.lines();
    return { first: this.sheet.positionOf(first), last: this.sheet.positionOf(last) };
  }

  /** Lets lines be rows of the view again, without moving what is seen. */
  settle(): void {
    const { snapshot, paged, shift } = this.sheet;
    if (paged || !shift) return;
    const { first } = this.lines();
    this.show(new Sheet(snapshot, false));
    this.scrollTo(first + shift);
  }

  private lines(): Span {
    const { top, bottom } = this.api.getVerticalPixelRange();
    const rows = Math.max(0, Math.ceil((bottom - top) / ROW_HEIGHT) - 1);
    const drawn = this.api.getFirstDisplayedRowIndex();
    // Lines that are drawn but not seen tell where we are even when AG Grid squeezes pixels.
    const first = drawn > 0 ? drawn + DRAWN_AROUND : Math.floor(top / ROW_HEIGHT);
    return { first, last: Math.max(first, Math.min(first + rows, this.sheet.lines - 1)) };
  }

  scrollTo(line: number, edge: 'top' | 'bottom' = 'top'): void {
    this.endsAt = -1;
    if (line < 0 || line >= this.sheet.lines) return;
    this.api.ensureIndexVisible(line, edge);
    this.top = this.scroller?.scrollTop ?? 0;
  }

  /** Shows the last lines. Asking the browser where we are is dear: it is left out where we know. */
  scrollToEnd(): void {
    const { lines } = this.sheet;
    if (this.endsAt === lines) return;
    this.scrollTo(lines - 1, 'bottom');
    this.endsAt = lines;
  }

  /** Whether there is nothing further down. */
  isAtEnd(): boolean {
    const { scroller } = this;
    if (!scroller) return true;
    return scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop <= 2;
  }

  /** Makes a line the one that keys work on. */
  focus(line: number): void {
    const column = this.shownColumns().find((name) => name !== NUMBERS);
    if (column) this.api.setFocusedCell(line, column);
  }

  /** Pixels for columns, beside the rows' numbers. */
  room(total: number): number {
    return this.host.clientWidth - numbersWidth(total) - SCROLLBAR;
  }

  shownColumns(): string[] {
    return this.api.getAllDisplayedColumns().map((column) => column.getColId());
  }

  unpick(): void {
    if (!this.block) return;
    this.block = undefined;
    this.api.refreshCells({ suppressFlash: true });
  }

  destroy(): void {
    this.ending.abort();
    this.flasher.destroy();
    this.api.destroy();
  }

  isPicked(line: number, column: string): boolean {
    return this.block !== undefined && !this.block.isOneCell && this.block.has(line, column);
  }

  orderOf = (column: string) => this.events.orderOf(column);
  isFiltered = (column: string) => this.events.isFiltered(column);
  sort = (column: string, more: boolean) => this.events.sort(column, more);
  openFilter = (column: string, anchor: HTMLElement) => this.events.openFilter(column, anchor);
  onChange = (listener: () => void) => this.events.onChange(listener);

  private fitNumbers(total: number): void {
    const newWidth = numbersWidth(total);
    if (newWidth === this.numbers) return;
    this.numbers = newWidth;
    this.api.setColumnWidths([{ key: NUMBERS, newWidth }]);
  }

  /** From the browser, not from AG Grid: that one tells of it when more may have happened. */
  private felt(target: EventTarget | null): void {
    const { scroller } = this;
    if (!scroller || target !== scroller) return;
    const way = scroller.scrollTop < this.top ? 'up' : 'down';
    if (Math.abs(scroller.scrollTop - this.top) < 1) return;
    this.top = scroller.scrollTop;
    this.endsAt = -1;
    this.events.pulled(way);
  }

  /** Follows the cell with the focus. AG Grid tells of it later: a copy may come before. */
  private pick(): void {
    const cell = this.api.getFocusedCell();
    if (!cell || cell.rowPinned) return;
    const end: Corner = { line: cell.rowIndex, column: cell.column.getColId() };
    const anchor = this.extending && this.block ? this.block.anchor : end;
    const wasOne = this.block?.isOneCell ?? true;
    this.block = new Block(anchor, end, this.shownColumns(), anchor.column === NUMBERS);
    if (!wasOne || !this.block.isOneCell) this.api.refreshCells({ suppressFlash: true });
  }

  private pressed({ event, rowIndex }: CellKeyDownEvent): void {
    if (!(event instanceof KeyboardEvent) || rowIndex === null) return;
    if (event.key === 'Enter') this.events.opened(rowIndex);
    const copies = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c';
    if (copies) {
      event.preventDefault();
      this.pick();
      if (this.block) this.events.copied(this.block);
    }
    if (event.key === 'Escape') this.unpick();
  }

  private listen(): void {
    const options = { signal: this.ending.signal, capture: true };
    const extend = (event: MouseEvent | KeyboardEvent): void => {
      if (event instanceof MouseEvent || MOVES.test(event.key)) this.extending = event.shiftKey;
    };
    this.host.addEventListener('keydown', extend, options);
    this.host.addEventListener('mousedown', extend, options);
    const explain = (event: MouseEvent): void => {
      this.hovered = event.target;
      this.explain();
    };
    this.host.addEventListener('mouseover', explain, options);
    this.host.addEventListener('scroll', (event) => this.felt(event.target), options);
  }

  /** The exact value, said by the browser when the pointer rests: set only where it may be seen. */
  private explain(): void {
    const { hovered } = this;
    const cell = hovered instanceof Element ? hovered.closest<HTMLElement>('.ag-cell') : null;
    const line = Number(cell?.closest('.ag-row')?.getAttribute('row-index') ?? NaN);
    const name = cell?.getAttribute('col-id');
    if (!cell || !name || Number.isNaN(line)) return;
    const column = this.columns.find((one) => one.name === name);
    const row = this.sheet.rowAt(line);
    if (name === NUMBERS) cell.title = 'Show the whole row';
    else cell.title = column && row ? exact(row[name], column.type) : '';
  }
}
