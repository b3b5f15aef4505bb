import {
  afterNextRender,
  booleanAttribute,
  ChangeDetectionStrategy,
  Component,
  computed,
  CSP_NONCE,
  DestroyRef,
  effect,
  ElementRef,
  inject,
  Injector,
  input,
  model,
  NgZone,
  output,
  signal,
  untracked,
  viewChild,
  ViewEncapsulation,
} from '@angular/core';
import type { Client, Column, Condition, Row } from '@evergrid/client';
import { ColumnArranger } from '../columns/column-arranger.js';
import type { CellRange } from '../grid/cell-range.js';
import { copyOf, writeToClipboard } from '../clipboard/cell-clipboard.js';
import { ColumnPanel, type ColumnAction } from '../columns/column-panel.js';
import { ROW_NUMBER } from '../grid/column-defs.js';
import { ExportMenu, type ExportRequest } from '../export/export-menu.js';
import { FilterChips } from '../filter/filter-chips.js';
import { FilterForm } from '../filter/filter-form.js';
import { Icon } from '../icon/icon.js';
import { queryOf, type ViewState } from '../view-state/view-state.js';
import { ColumnStorage, type ColumnArrangement } from '../columns/column-storage.js';
import { Notices } from './notices.js';
import { Pager } from '../paging/pager.js';
import { Popover } from '../popover/popover.js';
import { EVERGRID_CLIENT } from '../provide-evergrid.js';
import { SearchBox } from '../search/search-box.js';
import { debouncedStatus } from '../status/debounced-status.js';
import { StatusChip } from '../status/status-chip.js';
import { isQueryError } from '../status/status-label.js';
import { TableController } from './table-controller.js';
import { GridRenderer } from '../grid/grid-renderer.js';

/** A row that the user opens. */
export interface RowOpened {
  readonly row: Row;
  readonly columns: readonly Column[];
  readonly table: string;
}

interface Menu {
  readonly kind: 'filter' | 'columns' | 'export';
  readonly anchor: HTMLElement;
  readonly column?: string;
}

/**
 * A live table of a gateway, by its name: `<eg-live-table table="final_ui" />`.
 * It scrolls through any number of rows; the gateway filters, orders and searches.
 */
@Component({
  selector: 'eg-live-table',
  changeDetection: ChangeDetectionStrategy.OnPush,
  encapsulation: ViewEncapsulation.None,
  imports: [
    ColumnPanel,
    ExportMenu,
    FilterChips,
    FilterForm,
    Icon,
    Pager,
    Popover,
    SearchBox,
    StatusChip,
  ],
  templateUrl: './live-table.html',
  // One list for all parts: AG Grid's elements and the popover have no component of their own.
  styleUrls: [
    './live-table.css',
    './controls.css',
    '../icon/icon.css',
    '../search/search-box.css',
    '../paging/pager.css',
    '../filter/filter-chips.css',
    '../status/status-chip.css',
    '../popover/popover.css',
    '../filter/filter-form.css',
    '../columns/column-panel.css',
    '../grid/grid.css',
  ],
})
export class LiveTable {
  readonly table = input.required<string>();
  /** The table's title; default: its name. */
  readonly heading = input<string>();
  /** The view state: search, order, filters, position. Two-way. */
  readonly look = model<ViewState>({});
  /** Columns to show at first; default: all except trace columns. */
  readonly columns = input<readonly string[]>();
  /** The connection; default: that of `provideEvergrid`. */
  readonly client = input<Client>();
  /** A single row of controls, for dashboards. */
  readonly compact = input(false, { transform: booleanAttribute });
  /** Whether this browser stores how columns are arranged. */
  readonly remember = input(true, { transform: booleanAttribute });
  /** The user opens a row: a double click, Enter, or a click on its number. */
  readonly rowOpened = output<RowOpened>();

  private readonly injector = inject(Injector);
  private readonly zone = inject(NgZone);
  private readonly nonce = inject(CSP_NONCE, { optional: true });
  private readonly host = viewChild.required<ElementRef<HTMLElement>>('grid');
  private readonly headerListeners = new Set<() => void>();
  private emitted: ViewState | undefined;
  private renderer: GridRenderer | undefined;
  private readonly arranger = signal<ColumnArranger | undefined>(undefined);
  /** The menu that the pointer press closed: the click that follows must not open it again. */
  private closedByPress: Menu['kind'] | undefined;

  protected readonly controller = new TableController(
    (state) => {
      this.emitted = state;
      this.look.set(state);
    },
    () => this.headerListeners.forEach((listener) => listener()),
  );
  protected readonly notices = new Notices();
  protected readonly menu = signal<Menu | undefined>(undefined);
  protected readonly arrangements = signal<readonly ColumnArrangement[]>([]);
  protected readonly status = debouncedStatus(this.controller.status);
  protected readonly title = computed(() => this.heading() || this.table());
  protected readonly total = computed(() => this.controller.extent()?.total ?? 0);
  protected readonly first = computed(() => {
    const paged = this.controller.viewState().page !== undefined;
    return paged ? (this.controller.extent()?.offset ?? 0) : this.controller.visible().first;
  });
  protected readonly rows = computed(() => {
    const { first, last } = this.controller.visible();
    const paged = this.controller.viewState().page !== undefined;
    return paged ? (this.controller.extent()?.rows ?? 0) : Math.max(0, last - first + 1);
  });
  protected readonly filters = computed(() => this.controller.viewState().filters ?? []);
  protected readonly isFiltered = computed(
    () => this.filters().length > 0 || !!this.controller.viewState().search,
  );
  protected readonly isEmpty = computed(() => this.total() === 0);
  /** The rows on the screen are not, or may not be, the newest of the present query. */
  protected readonly isOutdated = computed(() => this.status().state !== 'live' && !this.isEmpty());
  protected readonly showsWarning = computed(
    () => this.isOutdated() && this.status().state !== 'loading',
  );
  protected readonly isQueryError = computed(() => isQueryError(this.status()));

  private readonly connection = computed(() => {
    const client = this.client() ?? this.injector.get(EVERGRID_CLIENT, null);
    if (!client) {
      throw new Error(
        'eg-live-table has no connection. Add provideEvergrid({ url, key }) to the providers of the app, or set [client].',
      );
    }
    return client;
  });

  constructor() {
    effect(() => {
      const state = this.look();
      if (state !== this.emitted) untracked(() => this.controller.adopt(state, this.table()));
    });
    effect(() => {
      const arranger = this.arranger();
      const client = this.connection();
      const table = this.table();
      if (arranger) untracked(() => this.open(arranger, client, table));
    });
    effect(() => {
      const options = this.arrangerOptions();
      untracked(() => this.arranger()?.restart(options));
    });
    effect(() => {
      const columns = this.controller.columns();
      untracked(() => this.followColumns(columns));
    });
    afterNextRender(() => this.zone.runOutsideAngular(() => this.build()));
    inject(DestroyRef).onDestroy(() => this.end());
  }

  private readonly arrangerOptions = computed(() => ({
    columns: this.columns(),
    storage: this.remember()
      ? new ColumnStorage(this.compact() ? `${this.table()}.compact` : this.table())
      : undefined,
  }));

  private build(): void {
    const { controller } = this;
    this.renderer = new GridRenderer(this.host().nativeElement, this.nonce, this.title(), {
      orderOf: (column) => this.orderOf(column),
      isFiltered: (column) => this.filters().some((one) => one.column === column),
      sort: (column, more) => controller.store.sort(column, more),
      openFilter: (column, anchor) => this.openMenu('filter', anchor, column),
      onChange: (listener) => {
        this.headerListeners.add(listener);
        return () => this.headerListeners.delete(listener);
      },
      scrolled: (visible) => controller.scrolled(visible),
      userScrolled: (direction) => controller.userScrolled(direction),
      resized: () => controller.resized(),
      rowOpened: (line) => this.openRow(line),
      copyRequested: (range) => void this.copy(range),
      columnsArranged: () => this.arranger()?.save(),
    });
    const arranger = new ColumnArranger(this.renderer, this.arrangerOptions());
    controller.attach(this.renderer, arranger);
    this.arranger.set(arranger);
  }

  private open(arranger: ColumnArranger, client: Client, table: string): void {
    arranger.clear();
    this.zone.runOutsideAngular(() => this.controller.open(client, table));
  }

  /** Updates an open menu to the new columns, or closes it if its column is gone. */
  private followColumns(columns: readonly Column[]): void {
    const menu = this.menu();
    if (menu?.kind === 'columns') this.arrangements.set(this.arranger()?.list() ?? []);
    const column = menu?.kind === 'filter' ? menu.column : undefined;
    if (column && !columns.some(({ name }) => name === column)) this.closeMenu();
  }

  private end(): void {
    this.controller.destroy();
    this.notices.destroy();
    this.renderer?.destroy();
  }

  private orderOf(column: string) {
    const order = this.controller.viewState().order ?? [];
    const rank = order.findIndex((one) => one.column === column);
    if (rank < 0) return undefined;
    return { rank: rank + 1, isOnly: order.length === 1, descending: !!order[rank]?.descending };
  }

  protected openMenu(kind: Menu['kind'], anchor: HTMLElement, column?: string): void {
    const { closedByPress } = this;
    this.closedByPress = undefined;
    if (closedByPress === kind && !column) return;
    if (kind === 'columns') this.arrangements.set(this.arranger()?.list() ?? []);
    this.menu.set({ kind, anchor, ...(column ? { column } : {}) });
  }

  protected toolbarPressed(): void {
    this.closedByPress = this.menu()?.kind;
  }

  protected closeMenu(): void {
    this.menu.set(undefined);
  }

  protected applyFilter(condition: Condition): void {
    this.controller.store.filter(condition.column, condition);
    this.menu.set(undefined);
  }

  protected removeFilter(column: string): void {
    this.controller.store.filter(column, undefined);
    this.menu.set(undefined);
  }

  protected arrange(action: ColumnAction): void {
    const arranger = this.arranger();
    if (!arranger) return;
    if (action.action === 'show') arranger.show(action.name, action.shown);
    else if (action.action === 'pin') arranger.pin(action.name, action.side);
    else if (action.action === 'move') arranger.move(action.name, action.by);
    else arranger.restoreDefaults();
    this.arrangements.set(arranger.list());
  }

  protected export(request: ExportRequest): void {
    this.menu.set(undefined);
    const columns = this.renderer?.shownColumns().filter((name) => name !== ROW_NUMBER) ?? [];
    const { offset, rows } = this.controller.extent() ?? { offset: 0, rows: 0 };
    const place = request.page ? { offset, limit: Math.max(1, rows) } : {};
    const options = {
      ...queryOf(this.controller.viewState()),
      columns,
      format: request.format,
      ...place,
    };
    this.notices.export(this.connection(), this.table(), options);
  }

  private async copy(range: CellRange): Promise<void> {
    const { renderer } = this;
    if (!renderer) return;
    const copy = copyOf(range, renderer.content, this.controller.columns());
    this.notices.copied(copy, await writeToClipboard(copy.text));
  }

  private openRow(line: number): void {
    const row = this.renderer?.content.rowAt(line);
    if (row) this.rowOpened.emit({ row, columns: this.controller.columns(), table: this.table() });
  }
}
