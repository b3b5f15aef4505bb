import { computed, signal } from '@angular/core';
import type { Client, Column, Snapshot, TableState, TableStatus } from '@evergrid/client';
import { sameColumns, type ColumnArranger } from '../columns/column-arranger.js';
import { GridContent } from '../grid/grid-content.js';
import type { GridRenderer } from '../grid/grid-renderer.js';
import { ColumnChangeAdapter, type TableSource } from '../view-state/column-change-adapter.js';
import { ViewStateStore } from '../view-state/view-state-store.js';
import { queryOf, sameQuery, type ViewState } from '../view-state/view-state.js';
import {
  covers,
  isByTime,
  lastScreenful,
  newestEdge,
  pageStart,
  placeAround,
  placeOf,
  sameExtent,
  sameSpan,
  type Edge,
  type Extent,
  type Span,
} from '../window/window-placement.js';
import { isAtPlace, WindowReader } from '../window/window-reader.js';

/** The position is emitted when scrolling has ended. */
const POSITION_MS = 400;

/** States in which missing rows may still arrive. */
const LOADING_STATES: ReadonlySet<TableState> = new Set(['connecting', 'loading', 'live']);

const INITIAL_STATUS: TableStatus = { state: 'connecting', message: 'Loading the table.' };

/**
 * Keeps view state, window and grid consistent.
 * The view state is what the user wants; the window follows it, and the grid shows what arrives.
 */
export class TableController {
  readonly status = signal<TableStatus>(INITIAL_STATUS);
  readonly columns = signal<readonly Column[]>([], { equal: sameColumns });
  readonly extent = signal<Extent | undefined>(undefined, { equal: sameExtent });
  readonly visible = signal<Span>({ first: 0, last: 0 }, { equal: sameSpan });
  /** Whether the requested rows are missing and may still arrive. */
  readonly busy = computed(() => this.waiting() && LOADING_STATES.has(this.status().state));
  /** Whether following the newest rows ended because the user scrolled. */
  readonly followInterrupted = signal(false);
  readonly store = new ViewStateStore({
    columns: this.columns,
    viewStateChanged: (before, after) => {
      this.refreshHeaders();
      this.emit(after);
      this.apply(before, after);
    },
  });
  readonly viewState = this.store.state;
  readonly adapter = new ColumnChangeAdapter({
    state: this.viewState,
    columns: this.columns,
    status: this.status,
    change: (change) => this.store.change(change),
  });
  private readonly reader = new WindowReader({
    snapshotRead: (snapshot) => this.show(snapshot),
    statusChanged: (status) =>
      this.adapter.statusChanged(status, this.reader.answered, this.source),
  });
  private readonly waiting = signal(true);
  private renderer: GridRenderer | undefined;
  private arranger: ColumnArranger | undefined;
  private source: TableSource | undefined;
  /** The position to scroll to as soon as the grid has lines. */
  private target: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `emit` gets every view state that the table makes; `refreshHeaders` redraws the headers. */
  constructor(
    private readonly emit: (state: ViewState) => void,
    private readonly refreshHeaders: () => void,
  ) {}

  attach(renderer: GridRenderer, arranger: ColumnArranger): void {
    this.renderer = renderer;
    this.arranger = arranger;
  }

  open(client: Client, table: string): void {
    if (this.source && this.source.table !== table) this.clear();
    this.adapter.cancel();
    this.source = { client, table };
    const state = this.viewState();
    this.target = state.position ?? 0;
    this.waiting.set(true);
    this.reader.open(client, table, queryOf(state), placeOf(state, this.edge()));
  }

  /** Requests all rows again. */
  refresh(): void {
    const { source } = this;
    if (!source) return;
    if (source.client.status.phase !== 'open') source.client.retry();
    const target = this.target;
    this.open(source.client, source.table);
    this.target = target;
  }

  /** Takes a view state from the app. */
  adopt(state: ViewState, table: string): void {
    const before = this.viewState();
    if (!this.store.adopt(state)) return;
    if (!sameQuery(state, before)) this.adapter.forget();
    this.refreshHeaders();
    // A state that comes together with another table belongs to that one, which opens next.
    if (this.source?.table === table) this.apply(before, this.viewState());
  }

  /** Shows the newest rows and stays there; drops an order that has no newest end. */
  followNewest(on: boolean): void {
    this.followInterrupted.set(false);
    const { order, page } = this.viewState();
    if (!on) {
      this.releaseLines();
      const position = page ? this.extent()?.offset : this.visible().first;
      this.store.change({ follow: undefined, position });
      return;
    }
    const kept = isByTime(order, this.columns()) ? order : undefined;
    this.store.change({ follow: true, order: kept, position: undefined });
  }

  /** Sets the rows a page; undefined: one table that scrolls. */
  setPage(page: number | undefined): void {
    const before = this.viewState();
    const position = before.page ? before.position : this.visible().first;
    this.store.change({ page, position: page ? pageStart(position ?? 0, page) : position });
  }

  /** Shows the row at a position of the result, from 0. */
  goTo(position: number): void {
    this.followInterrupted.set(false);
    const { page } = this.viewState();
    const last = Math.max(0, (this.extent()?.total ?? 0) - 1);
    const row = Math.max(0, Math.min(position, last));
    const start = page ? pageStart(row, page) : row;
    const changed = this.store.change({ follow: undefined, position: start });
    this.target = row;
    if (!changed || !page) this.scrollToTarget();
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.adapter.cancel();
    this.reader.close();
  }

  /** Other lines are visible. */
  scrolled(visible: Span): void {
    this.visible.set(visible);
    const { follow, page } = this.viewState();
    if (follow || page || this.target !== undefined) return;
    this.loadAround(visible);
    clearTimeout(this.timer);
    const emitPosition = (): unknown => this.store.change({ position: this.visible().first });
    this.timer = setTimeout(emitPosition, POSITION_MS);
  }

  /** The grid has another size, so more or fewer lines are visible. */
  resized(): void {
    const { follow, page } = this.viewState();
    if (follow) this.showNewest();
    else if (!page && this.renderer && this.extent()) this.loadAround(this.renderer.visible());
  }

  /** The user scrolled; scrolling away from the newest rows ends following them. */
  userScrolled(direction: 'up' | 'down'): void {
    if (!this.viewState().follow) return;
    const away =
      this.edge() === 'top'
        ? direction === 'down'
        : direction === 'up' && !this.renderer?.isAtEnd();
    if (!away) return;
    this.followInterrupted.set(true);
    this.releaseLines();
    const { page } = this.viewState();
    const start = pageStart(this.extent()?.offset ?? 0, page ?? 1);
    this.store.change({ follow: undefined, position: page ? start : this.visible().first });
    // The grid already shows the rows that the user scrolled to.
    if (!page) this.target = undefined;
  }

  /** Loads and shows what a new view state asks for. */
  private apply(before: ViewState, after: ViewState): void {
    const sameRows = sameQuery(before, after) && before.page === after.page;
    if (sameRows && before.follow === after.follow) {
      if (this.visible().first !== (after.position ?? 0) || after.page) this.goToPosition(after);
      return;
    }
    clearTimeout(this.timer);
    if (!sameQuery(before, after)) this.renderer?.clearSelection();
    this.target = after.position ?? 0;
    this.waiting.set(true);
    this.reader.ask(queryOf(after), placeOf(after, this.edge()), sameQuery(before, after));
  }

  private goToPosition(state: ViewState): void {
    this.target = state.position ?? 0;
    if (!state.page) {
      this.scrollToTarget();
      return;
    }
    this.waiting.set(true);
    this.reader.move(placeOf(state, this.edge()));
  }

  private scrollToTarget(): void {
    const { renderer, target } = this;
    if (!renderer || target === undefined || !renderer.content.lines) return;
    this.target = undefined;
    renderer.scrollTo(renderer.content.lineOf(target));
    const { first, last } = this.visible();
    if (!this.viewState().page) this.loadAround({ first: target, last: target + last - first });
  }

  private show(snapshot: Snapshot): void {
    const { renderer } = this;
    const state = this.viewState();
    const paged = state.page !== undefined;
    const arrived = isAtPlace(snapshot, this.reader.place);
    if (!renderer || (paged && !arrived)) return;
    if (arrived) this.waiting.set(false);
    if (this.retreatsFrom(snapshot)) return;
    this.columns.set(snapshot.columns);
    this.adapter.knownColumns.set(snapshot.columns);
    this.arranger?.update(snapshot);
    const { total, offset, rows } = snapshot;
    this.extent.set({ total, offset, rows: rows.length });
    renderer.show(GridContent.of(snapshot, state, this.edge(), renderer.content.lines));
    if (this.viewState().follow) this.showNewest();
    else if (this.target !== undefined) this.scrollToTarget();
    else if (!paged) this.loadAround(renderer.visible());
    this.visible.set(renderer.visible());
  }

  /**
   * Whether a snapshot has no rows because the result has become shorter. The grid keeps its rows
   * until the last rows of the result arrive.
   */
  private retreatsFrom({ rows, offset, total }: Snapshot): boolean {
    const { page, follow, position } = this.viewState();
    if (rows.length || !total || follow) return false;
    if (page) {
      if (!position) return false;
      this.store.change({ position: pageStart(total - 1, page) });
      return true;
    }
    if (offset < total) return false;
    this.waiting.set(true);
    this.reader.move(placeAround(lastScreenful(this.visible(), total)));
    return true;
  }

  private loadAround(visible: Span): void {
    const { place } = this.reader;
    const total = this.extent()?.total ?? 0;
    if (!place || !covers(place, visible, total)) this.reader.move(placeAround(visible));
  }

  private releaseLines(): void {
    this.renderer?.releaseLines();
    if (this.renderer) this.visible.set(this.renderer.visible());
  }

  private showNewest(): void {
    const { renderer } = this;
    this.target = undefined;
    // Only the columns tell at which end the newest rows are.
    this.reader.move(placeOf(this.viewState(), this.edge()));
    if (!renderer?.content.lines) return;
    if (this.edge() === 'top') renderer.scrollTo(0);
    else renderer.scrollToEnd();
  }

  private edge(): Edge {
    return newestEdge(this.viewState().order, this.columns());
  }

  private clear(): void {
    this.renderer?.show(GridContent.EMPTY);
    this.columns.set([]);
    this.extent.set(undefined);
    this.followInterrupted.set(false);
    this.adapter.forget();
    this.status.set(INITIAL_STATUS);
  }
}
