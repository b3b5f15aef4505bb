import {
  afterRenderEffect,
  Component,
  computed,
  DestroyRef,
  ElementRef,
  inject,
  linkedSignal,
  signal,
  viewChild,
} from '@angular/core';
import type { Row, Snapshot } from '@evergrid/client';
import type { OpenedRow } from '../url/opened-row';
import { TableCatalog } from '../live/table-catalog';
import { kindOf } from '../live/table-kinds';
import { watchTable } from '../live/table-watch';
import { RowOpener } from './row-opener';
import { identityFilter, joinOf } from './row-origin';
import { BadMessage } from '../quarantine/bad-message';
import { RowDetails } from './row-details';

const NARROW_SCREEN = '(max-width: 960px)';
/** The filter of an id matches one row, or a few if the join is unknown. */
const MAX_ROWS = 200;

interface Found {
  readonly opened: OpenedRow;
  readonly row: Row;
  readonly snapshot: Snapshot;
}

/** The details of a row, beside the page or, on narrow screens, in front of it. */
@Component({
  selector: 'app-details-panel',
  imports: [BadMessage, RowDetails],
  templateUrl: './details-panel.html',
  styleUrl: './details-panel.css',
  host: { '(document:keydown.escape)': 'escape($event)' },
})
export class DetailsPanel {
  readonly #catalog = inject(TableCatalog);
  protected readonly opener = inject(RowOpener);
  private readonly dialog = viewChild.required<ElementRef<HTMLDialogElement>>('dialog');
  readonly #narrow = narrowScreen();

  readonly #table = computed(() =>
    this.#catalog.tables().find(({ name }) => name === this.opener.opened()?.table),
  );
  readonly #watched = watchTable(() => {
    const opened = this.opener.opened();
    const table = this.#table();
    if (!opened || !table) return undefined;
    const join = joinOf(table.name, this.#catalog.pipeline());
    const filter = identityFilter(opened.id, table.columns, join);
    return filter && { table: table.name, options: { filter, limit: MAX_ROWS } };
  });
  /** The row as it is now; undefined if it is not in the table. */
  readonly #present = computed((): Found | undefined => {
    const opened = this.opener.opened();
    const { snapshot } = this.#watched();
    const row = snapshot?.rows.find(({ _id }) => _id === opened?.id);
    return opened && snapshot && row && snapshot.table === opened.table
      ? { opened, row, snapshot }
      : undefined;
  });
  /** The row as it is or last was; not another row with the same id in another generation. */
  protected readonly found = linkedSignal<Found | undefined, Found | undefined>({
    source: this.#present,
    computation: (present, before) =>
      present && !isOtherRow(before?.value, present) ? present : before?.value,
  });
  protected readonly shown = computed(() => {
    const [found, opened] = [this.found(), this.opener.opened()];
    const same = found?.opened.id === opened?.id && found?.opened.table === opened?.table;
    return same ? found : undefined;
  });
  protected readonly kind = computed(() => {
    const found = this.shown();
    return found ? kindOf(found.snapshot) : undefined;
  });
  /** A message about the row; empty if it is in the table. */
  protected readonly notice = computed(() => {
    const opened = this.opener.opened();
    const { status, snapshot } = this.#watched();
    const present = this.#present();
    if (!opened) return '';
    if (present && isOtherRow(this.shown(), present)) {
      const what = `another row of ${opened.table} has this id now`;
      return `The pipeline has changed, and ${what}. Below is the row that you opened, as it last was.`;
    }
    if (present) return '';
    if (!this.#table()) {
      return this.#catalog.updatedAt() ? `There is no table ${opened.table} now.` : 'Loading…';
    }
    if (status && status.state !== 'live' && !this.shown()) return status.message;
    if (!snapshot && status) return 'Loading…';
    return this.shown()
      ? `This row is no longer in ${opened.table}. Below is how it last was.`
      : `${opened.table} has no such row. It may have been dropped: a table keeps only its newest rows.`;
  });

  constructor() {
    afterRenderEffect(() => this.#show(this.opener.opened() !== undefined, this.#narrow()));
  }

  protected escape(event: Event): void {
    if (!this.opener.opened() || event.defaultPrevented) return;
    const inside = (event.target as Element).closest('dialog, input, [popover], [role=dialog]');
    if (inside && inside !== this.dialog().nativeElement) return;
    event.preventDefault();
    this.opener.close();
  }

  /** Browsers may close a dialog in spite of preventDefault. */
  protected closed(): void {
    if (this.opener.opened() && !this.dialog().nativeElement.open) this.opener.close();
  }

  /** The element that had the focus before. */
  #focusedBefore: Element | null = null;

  #show(open: boolean, narrow: boolean): void {
    const dialog = this.dialog().nativeElement;
    if (dialog.open && (!open || dialog.matches(':modal') !== narrow)) this.#hide(dialog);
    if (!open || dialog.open) return;
    this.#focusedBefore = document.activeElement;
    if (narrow) dialog.showModal();
    else dialog.show();
  }

  /** A dialog restores the focus, unless its focused element was already removed. */
  #hide(dialog: HTMLDialogElement): void {
    const hasFocus = document.activeElement !== document.body;
    const inside = dialog.contains(document.activeElement);
    dialog.close();
    if (hasFocus && !inside) return;
    // Tables redraw their cells, so the focused cell may not exist any more.
    const before = this.#focusedBefore?.isConnected
      ? this.#focusedBefore
      : document.getElementById('main');
    (before as HTMLElement | null)?.focus();
  }
}

/**
 * Whether a row of another generation only has the same id: ids are positions on topics, which may be
 * other topics now. The same message has the same time.
 */
function isOtherRow(before: Found | undefined, now: Found): boolean {
  if (!before || before.opened.id !== now.opened.id || before.opened.table !== now.opened.table) {
    return false;
  }
  const otherGeneration = before.snapshot.generation !== now.snapshot.generation;
  return otherGeneration && before.row['ts'] !== now.row['ts'];
}

function narrowScreen(): () => boolean {
  const query = matchMedia(NARROW_SCREEN);
  const narrow = signal(query.matches);
  const note = (): void => narrow.set(query.matches);
  query.addEventListener('change', note);
  inject(DestroyRef).onDestroy(() => query.removeEventListener('change', note));
  return narrow.asReadonly();
}
