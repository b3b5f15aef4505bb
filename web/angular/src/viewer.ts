import type { CellKeyDownEvent, GridApi } from 'ag-grid-community';
import type { Column } from '@evergrid/client';
import { Block, type Corner } from './block.js';
import { columnDefs, NUMBERS, numbersWidth, type CellDesk, type Shown } from './columns.js';
import { difference } from './difference.js';
import { exact } from './format.js';
import { Flasher } from './flash.js';
import { makeGrid } from './grid.js';
import type { HeaderDesk } from './header.js';
import { Scroller } from './scroller.js';
import { Sheet } from './sheet.js';
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
  private readonly scroller: Scroller;
  private hovered: EventTarget | null = null;
  private numbers = 0;

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
    this.scroller = new Scroller(host, this.api);
    this.listen();
  }

  /** Draws what is other in this sheet. */
  show(sheet: Sheet): void {
    const before = this.sheet;
    this.sheet = sheet;
    if (sheet.lines !== before.lines) {
      const hold = this.scroller.hold(before.lines, sheet.lines);
      this.api.setRowCount(sheet.lines, true);
      hold();
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
    const { first, last } = this.scroller.seen(this.sheet.lines);
    return { first: this.sheet.positionOf(first), last: this.sheet.positionOf(last) };
  }

  /** Lets lines be rows of the view again, without moving what is seen. */
  settle(): void {
    const { snapshot, paged, shift } = this.sheet;
    if (paged || !shift) return;
    const first = this.scroller.line(this.sheet.lines);
    this.show(new Sheet(snapshot, false));
    this.scrollTo(first + shift);
  }

  scrollTo(line: number): void {
    this.scroller.toLine(line, this.sheet.lines);
  }

  scrollToEnd(): void {
    this.scroller.toEnd(this.sheet.lines);
  }

  isAtEnd(): boolean {
    return this.scroller.isAtEnd();
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
    this.scroller.listen((way) => this.events.pulled(way), this.ending.signal);
    this.scroller.measure(() => this.events.resized(), this.ending.signal);
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
