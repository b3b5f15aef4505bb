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
import { Arranger } from './arranger.js';
import type { Block } from './block.js';
import { copyOf, toClipboard } from './clipboard.js';
import { ColumnPanel, type ColumnWish } from './column-panel.js';
import { NUMBERS } from './columns.js';
import { ExportMenu, type ExportWish } from './export-menu.js';
import { FilterChips } from './filter-chips.js';
import { FilterForm } from './filter-form.js';
import { Icon } from './icon.js';
import { queryOf, type Look } from './look.js';
import { ColumnMemory, type Arrangement } from './memory.js';
import { Notices } from './notices.js';
import { Pager } from './pager.js';
import { Popover } from './popover.js';
import { EVERGRID_CLIENT } from './provide.js';
import { SearchBox } from './search-box.js';
import { settled } from './settled.js';
import { StatusChip } from './status-chip.js';
import { isAboutQuestion } from './status-words.js';
import { Steering } from './steering.js';
import { GridViewer } from './viewer.js';

/** A row that somebody wants to see whole. */
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
 * It shows any rows of any number of them; filters, order and search are the gateway's work.
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
  styleUrls: ['./live-table.css', './controls.css', './forms.css', './cells.css'],
})
export class LiveTable {
  readonly table = input.required<string>();
  /** What people call the table; left out: its name. */
  readonly heading = input<string>();
  /** What people made of it: search, order, filters, position. Goes both ways. */
  readonly look = model<Look>({});
  /** Columns to show at first; left out: all but those that only say where rows came from. */
  readonly columns = input<readonly string[]>();
  /** The connection to use; left out: that of `provideEvergrid`. */
  readonly client = input<Client>();
  /** One slim row of controls, for dashboards. */
  readonly compact = input(false, { transform: booleanAttribute });
  /** Whether this browser remembers how columns are arranged. */
  readonly remember = input(true, { transform: booleanAttribute });
  /** Somebody wants to see a row whole: a double click, Enter, or a click on its number. */
  readonly rowOpened = output<RowOpened>();

  private readonly injector = inject(Injector);
  private readonly zone = inject(NgZone);
  private readonly nonce = inject(CSP_NONCE, { optional: true });
  private readonly host = viewChild.required<ElementRef<HTMLElement>>('grid');
  private readonly headerListeners = new Set<() => void>();
  private told: Look | undefined;
  private viewer: GridViewer | undefined;
  private readonly ready = signal<Arranger | undefined>(undefined);
  /** The menu that was open when a button was pressed: the press closes it, the click must not undo that. */
  private pressed: Menu['kind'] | undefined;

  protected readonly steering = new Steering(
    (look) => {
      this.told = look;
      this.look.set(look);
    },
    () => this.headerListeners.forEach((listener) => listener()),
  );
  protected readonly notices = new Notices();
  protected readonly menu = signal<Menu | undefined>(undefined);
  protected readonly arrangements = signal<readonly Arrangement[]>([]);
  protected readonly status = settled(this.steering.status);
  protected readonly title = computed(() => this.heading() || this.table());
  protected readonly total = computed(() => this.steering.extent()?.total ?? 0);
  protected readonly first = computed(() => {
    const paged = this.steering.look().page !== undefined;
    return paged ? (this.steering.extent()?.offset ?? 0) : this.steering.seen().first;
  });
  protected readonly rows = computed(() => {
    const { first, last } = this.steering.seen();
    const paged = this.steering.look().page !== undefined;
    return paged ? (this.steering.extent()?.rows ?? 0) : Math.max(0, last - first + 1);
  });
  protected readonly filters = computed(() => this.steering.look().filters ?? []);
  protected readonly narrowed = computed(
    () => this.filters().length > 0 || !!this.steering.look().search,
  );
  protected readonly isEmpty = computed(() => this.total() === 0);
  /** Rows that stay on the screen though they are not, or not known to be, what was asked for. */
  protected readonly isOld = computed(() => this.status().state !== 'live' && !this.isEmpty());
  protected readonly isAlarming = computed(() => this.isOld() && this.status().state !== 'loading');
  protected readonly isAboutQuestion = computed(() => isAboutQuestion(this.status()));

  private readonly source = computed(() => {
    const client = this.client() ?? this.injector.get(EVERGRID_CLIENT, null);
    if (!client) {
      throw new Error(
        'eg-live-table has no gateway. Add provideEvergrid({ url, key }) to the providers of the app, or set [client].',
      );
    }
    return client;
  });

  constructor() {
    effect(() => {
      const look = this.look();
      if (look !== this.told) untracked(() => this.steering.adopt(look, this.table()));
    });
    effect(() => {
      const arranger = this.ready();
      const client = this.source();
      const table = this.table();
      if (arranger) untracked(() => this.open(arranger, client, table));
    });
    effect(() => {
      const options = this.arranging();
      untracked(() => this.ready()?.restart(options));
    });
    effect(() => {
      const columns = this.steering.columns();
      untracked(() => this.followColumns(columns));
    });
    afterNextRender(() => this.zone.runOutsideAngular(() => this.build()));
    inject(DestroyRef).onDestroy(() => this.end());
  }

  private readonly arranging = computed(() => ({
    columns: this.columns(),
    memory: this.remember()
      ? new ColumnMemory(this.compact() ? `${this.table()}.compact` : this.table())
      : undefined,
  }));

  private build(): void {
    const { steering } = this;
    this.viewer = new GridViewer(this.host().nativeElement, this.nonce, this.title(), {
      orderOf: (column) => this.orderOf(column),
      isFiltered: (column) => this.filters().some((one) => one.column === column),
      sort: (column, more) => steering.sort(column, more),
      openFilter: (column, anchor) => this.openMenu('filter', anchor, column),
      onChange: (listener) => {
        this.headerListeners.add(listener);
        return () => this.headerListeners.delete(listener);
      },
      scrolled: (seen) => steering.scrolled(seen),
      pulled: (way) => steering.pulled(way),
      resized: () => steering.resized(),
      opened: (line) => this.openRow(line),
      copied: (block) => void this.copy(block),
      arranged: () => this.ready()?.keep(),
    });
    const arranger = new Arranger(this.viewer, this.arranging());
    steering.attach(this.viewer, arranger);
    this.ready.set(arranger);
  }

  private open(arranger: Arranger, client: Client, table: string): void {
    arranger.forget();
    this.zone.runOutsideAngular(() => this.steering.open(client, table));
  }

  /** What is open goes on with the columns that there are, or closes with its own. */
  private followColumns(columns: readonly Column[]): void {
    const menu = this.menu();
    if (menu?.kind === 'columns') this.arrangements.set(this.ready()?.list() ?? []);
    const about = menu?.kind === 'filter' ? menu.column : undefined;
    if (about && !columns.some(({ name }) => name === about)) this.closeMenu();
  }

  private end(): void {
    this.steering.destroy();
    this.notices.destroy();
    this.viewer?.destroy();
  }

  private orderOf(column: string) {
    const order = this.steering.look().order ?? [];
    const rank = order.findIndex((one) => one.column === column);
    if (rank < 0) return undefined;
    return { rank: rank + 1, alone: order.length === 1, descending: !!order[rank]?.descending };
  }

  protected openMenu(kind: Menu['kind'], anchor: HTMLElement, column?: string): void {
    const { pressed } = this;
    this.pressed = undefined;
    if (pressed === kind && !column) return;
    if (kind === 'columns') this.arrangements.set(this.ready()?.list() ?? []);
    this.menu.set({ kind, anchor, ...(column ? { column } : {}) });
  }

  protected press(): void {
    this.pressed = this.menu()?.kind;
  }

  protected closeMenu(): void {
    this.menu.set(undefined);
  }

  protected applyFilter(condition: Condition): void {
    this.steering.filter(condition.column, condition);
    this.menu.set(undefined);
  }

  protected removeFilter(column: string): void {
    this.steering.filter(column, undefined);
    this.menu.set(undefined);
  }

  protected arrange(wish: ColumnWish): void {
    const arranger = this.ready();
    if (!arranger) return;
    if (wish.wish === 'show') arranger.show(wish.name, wish.shown);
    else if (wish.wish === 'pin') arranger.pin(wish.name, wish.side);
    else if (wish.wish === 'move') arranger.move(wish.name, wish.by);
    else arranger.reset();
    this.arrangements.set(arranger.list());
  }

  protected export(wish: ExportWish): void {
    this.menu.set(undefined);
    const columns = this.viewer?.shownColumns().filter((name) => name !== NUMBERS) ?? [];
    const { offset, rows } = this.steering.extent() ?? { offset: 0, rows: 0 };
    const place = wish.page ? { offset, limit: Math.max(1, rows) } : {};
    const options = { ...queryOf(this.steering.look()), columns, format: wish.format, ...place };
    this.notices.exporting(this.source(), this.table(), options);
  }

  private async copy(block: Block): Promise<void> {
    const { viewer } = this;
    if (!viewer) return;
    const copy = copyOf(block, viewer.sheet, this.steering.columns());
    this.notices.copied(copy, await toClipboard(copy.text));
  }

  private openRow(line: number): void {
    const row = this.viewer?.sheet.rowAt(line);
    if (row) this.rowOpened.emit({ row, columns: this.steering.columns(), table: this.table() });
  }
}
