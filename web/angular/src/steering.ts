import { computed, signal } from '@angular/core';
import type {
  Client,
  Column,
  Condition,
  Snapshot,
  TableState,
  TableStatus,
} from '@evergrid/client';
import { Adapter, type Source } from './adapter.js';
import { sameColumns, type Arranger } from './arranger.js';
import { Echo } from './echo.js';
import {
  changed,
  clickedOrder,
  queryOf,
  sameLook,
  sameQuestion,
  withCondition,
  type Look,
  type LookChange,
} from './look.js';
import { isThere, WindowReader } from './reader.js';
import { Sheet } from './sheet.js';
import { followEdge, isByTime, type Edge } from './newest.js';
import type { GridViewer } from './viewer.js';
import { covers, lastScreenful, placeAround, type Span } from './window.js';
import { aligned, placeOf, sameExtent, sameSpan, sheetOf, type Extent } from './extent.js';

/** A position is told when scrolling has ended, not on the way. */
const POSITION_MS = 400;

const PATIENT: ReadonlySet<TableState> = new Set(['connecting', 'loading', 'live']);

const NOTHING_YET: TableStatus = {
  state: 'connecting',
  message: 'The table is about to be asked for.',
};

/**
 * Keeps the look, the window that is read and the grid in step.
 * The look is what people want; the window follows it, and the grid shows what has come.
 */
export class Steering {
  readonly look = signal<Look>({});
  readonly status = signal<TableStatus>(NOTHING_YET);
  readonly columns = signal<readonly Column[]>([], { equal: sameColumns });
  readonly extent = signal<Extent | undefined>(undefined, { equal: sameExtent });
  readonly seen = signal<Span>({ first: 0, last: 0 }, { equal: sameSpan });
  /** Whether the rows that are wanted have not come yet, and may still come. */
  readonly busy = computed(() => this.waiting() && PATIENT.has(this.status().state));
  /** Whether following ended because somebody scrolled. */
  readonly strayed = signal(false);
  /** What the look had to give up when the table got other columns. */
  readonly adapter = new Adapter(this);
  private readonly reader = new WindowReader({
    read: (snapshot) => this.read(snapshot),
    told: (status) => this.adapter.told(status, this.reader.answered, this.source),
  });
  private readonly waiting = signal(true);
  private readonly echo = new Echo();
  private viewer: GridViewer | undefined;
  private arranger: Arranger | undefined;
  private source: Source | undefined;
  private target: number | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `tell` gets every look that is made here; `headers` draws the headers anew. */
  constructor(
    private readonly tell: (look: Look) => void,
    private readonly headers: () => void,
  ) {}

  attach(viewer: GridViewer, arranger: Arranger): void {
    this.viewer = viewer;
    this.arranger = arranger;
  }

  open(client: Client, table: string): void {
    if (this.source && this.source.table !== table) this.clear();
    this.adapter.end();
    this.source = { client, table };
    this.target = this.look().position ?? 0;
    this.waiting.set(true);
    this.reader.open(client, table, queryOf(this.look()), placeOf(this.look(), this.edge()));
  }

  /** Asks for everything anew. */
  refresh(): void {
    const { source } = this;
    if (!source) return;
    if (source.client.status.phase !== 'open') source.client.retry();
    const target = this.target;
    this.open(source.client, source.table);
    this.target = target;
  }

  /** Takes a look from outside, unless it is one that was made here and comes back. */
  adopt(look: Look, table: string): void {
    const before = this.look();
    if (this.echo.isEcho(look) || sameLook(look, before)) return;
    this.look.set(changed(look, {}));
    if (!sameQuestion(look, before)) this.adapter.forget();
    this.headers();
    // A look that comes with another table is for that one, which is about to be opened.
    if (this.source?.table === table) this.pursue(before, this.look());
  }

  /** Makes another look; false if it is the same. */
  change(change: LookChange): boolean {
    const before = this.look();
    const next = changed(before, change);
    if (sameLook(before, next)) return false;
    this.look.set(next);
    this.headers();
    this.echo.give(next);
    this.tell(next);
    this.pursue(before, next);
    return true;
  }

  search(search: string): void {
    this.change({ search, position: undefined });
  }

  sort(column: string, more: boolean): void {
    const order = clickedOrder(this.look().order, column, more);
    const stays = this.look().follow && isByTime(order, this.columns());
    this.change({ order, position: undefined, follow: stays || undefined });
  }

  filter(column: string, condition: Condition | undefined): void {
    const filters = withCondition(this.look().filters, column, condition);
    this.change({ filters, position: undefined });
  }

  clearFilters(): void {
    this.change({ filters: undefined, search: undefined, position: undefined });
  }

  /** Asks for all rows in the table's own order, which no gateway refuses. */
  clearQuestion(): void {
    this.change({ filters: undefined, search: undefined, order: undefined, position: undefined });
  }

  /** Goes to the newest rows and stays there; an order that has no newest end is given up. */
  followNewest(on: boolean): void {
    this.strayed.set(false);
    const { order, page } = this.look();
    if (!on) {
      this.settle();
      const position = page ? this.extent()?.offset : this.seen().first;
      this.change({ follow: undefined, position });
      return;
    }
    const kept = isByTime(order, this.columns()) ? order : undefined;
    this.change({ follow: true, order: kept, position: undefined });
  }

  /** Pages of so many rows, or one long table. */
  setPage(page: number | undefined): void {
    const position = this.look().page ? this.look().position : this.seen().first;
    this.change({ page, position: page ? aligned(position ?? 0, page) : position });
  }

  /** Shows a row of the view, counted from 0. */
  goTo(position: number): void {
    this.strayed.set(false);
    const { page } = this.look();
    const last = Math.max(0, (this.extent()?.total ?? 0) - 1);
    const row = Math.max(0, Math.min(position, last));
    const moved = this.change({ follow: undefined, position: page ? aligned(row, page) : row });
    this.target = row;
    if (!moved || !page) this.arrive();
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.adapter.end();
    this.reader.close();
  }

  /** Other lines are seen. */
  scrolled(seen: Span): void {
    this.seen.set(seen);
    const { follow, page } = this.look();
    if (follow || page || this.target !== undefined) return;
    this.keepUp(seen);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.change({ position: this.seen().first }), POSITION_MS);
  }

  /** The grid has another size: more or fewer lines are seen. */
  resized(): void {
    if (this.look().follow) this.stick();
    else if (!this.look().page && this.viewer && this.extent()) this.keepUp(this.viewer.seen());
  }

  /** Somebody scrolled: whoever does no longer wants to be taken to the newest rows. */
  pulled(way: 'up' | 'down'): void {
    if (!this.look().follow) return;
    const away = this.edge() === 'top' ? way === 'down' : way === 'up' && !this.viewer?.isAtEnd();
    if (!away) return;
    this.strayed.set(true);
    this.settle();
    const { page } = this.look();
    const offset = this.extent()?.offset ?? 0;
    this.change({ follow: undefined, position: page ? aligned(offset, page) : this.seen().first });
    // Whoever scrolls is already where they want to be.
    if (!page) this.target = undefined;
  }

  /** Does what a new look wants. */
  private pursue(before: Look, after: Look): void {
    const sameRows = sameQuestion(before, after) && before.page === after.page;
    if (sameRows && before.follow === after.follow) {
      if (this.seen().first !== (after.position ?? 0) || after.page) this.travel(after);
      return;
    }
    clearTimeout(this.timer);
    if (!sameQuestion(before, after)) this.viewer?.unpick();
    this.target = after.position ?? 0;
    this.waiting.set(true);
    this.reader.ask(queryOf(after), placeOf(after, this.edge()), sameQuestion(before, after));
  }

  private travel(look: Look): void {
    this.target = look.position ?? 0;
    if (!look.page) {
      this.arrive();
      return;
    }
    this.waiting.set(true);
    this.reader.move(placeOf(look, this.edge()));
  }

  /** Scrolls to where somebody wants to be, if that is known to be there. */
  private arrive(): void {
    const { viewer, target } = this;
    if (!viewer || target === undefined || !viewer.sheet.lines) return;
    this.target = undefined;
    viewer.scrollTo(viewer.sheet.lineOf(target));
    const { first, last } = this.seen();
    if (!this.look().page) this.keepUp({ first: target, last: target + last - first });
  }

  private read(snapshot: Snapshot): void {
    const { look, viewer } = this;
    const paged = look().page !== undefined;
    const arrived = isThere(snapshot, this.reader.place);
    if (!viewer || (paged && !arrived)) return;
    if (arrived) this.waiting.set(false);
    if (this.isBeyond(snapshot)) return;
    this.columns.set(snapshot.columns);
    this.adapter.heard.set(snapshot.columns);
    this.arranger?.take(snapshot);
    const { total, offset, rows } = snapshot;
    this.extent.set({ total, offset, rows: rows.length });
    viewer.show(sheetOf(snapshot, look(), this.edge(), viewer.sheet.lines));
    if (look().follow) this.stick();
    else if (this.target !== undefined) this.arrive();
    else if (!paged) this.keepUp(viewer.seen());
    this.seen.set(viewer.seen());
  }

  /** Rows that have gone: what is shown stays until the last ones that there are have come. */
  private isBeyond({ rows, offset, total }: Snapshot): boolean {
    const { page, follow, position } = this.look();
    if (rows.length || !total || follow) return false;
    if (!page) return this.retreat(offset, total);
    if (!position) return false;
    this.change({ position: aligned(total - 1, page) });
    return true;
  }

  /** Asks for the last screenful, if a window begins after it. */
  private retreat(offset: number, total: number): boolean {
    if (offset < total) return false;
    this.waiting.set(true);
    this.reader.move(placeAround(lastScreenful(this.seen(), total)));
    return true;
  }

  private keepUp(seen: Span): void {
    const { place } = this.reader;
    const total = this.extent()?.total ?? 0;
    if (!place || !covers(place, seen, total)) this.reader.move(placeAround(seen));
  }

  private settle(): void {
    this.viewer?.settle();
    if (this.viewer) this.seen.set(this.viewer.seen());
  }

  private stick(): void {
    const { viewer } = this;
    this.target = undefined;
    // At which end the newest rows are is known only with the columns.
    this.reader.move(placeOf(this.look(), this.edge()));
    if (!viewer?.sheet.lines) return;
    if (this.edge() === 'top') viewer.scrollTo(0);
    else viewer.scrollToEnd();
  }

  private edge(): Edge {
    return followEdge(this.look().order, this.columns());
  }

  private clear(): void {
    this.viewer?.show(Sheet.EMPTY);
    this.columns.set([]);
    this.extent.set(undefined);
    this.strayed.set(false);
    this.adapter.forget();
    this.status.set(NOTHING_YET);
  }
}
