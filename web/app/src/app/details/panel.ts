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
import type { Opened } from '../address/opened';
import { Catalog } from '../live/catalog';
import { kindOf } from '../live/kinds';
import { watchTable } from '../live/watch';
import { Opener } from './opener';
import { identityFilter, joinOf } from './origin';
import { BadMessage } from '../quarantine/message';
import { RowDetails } from './row';

const NARROW = '(max-width: 960px)';
/** Rows that pass the filter of an id: mostly one, a few where the join is not known. */
const MOST_ROWS = 200;

interface Found {
  readonly opened: Opened;
  readonly row: Row;
  readonly snapshot: Snapshot;
}

/** All about one row, beside the page or, on narrow screens, in front of it. */
@Component({
  selector: 'app-details-panel',
  imports: [BadMessage, RowDetails],
  templateUrl: './panel.html',
  styleUrl: './panel.css',
  host: { '(document:keydown.escape)': 'escape($event)' },
})
export class DetailsPanel {
  readonly #catalog = inject(Catalog);
  protected readonly opener = inject(Opener);
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
    return filter && { table: table.name, options: { filter, limit: MOST_ROWS } };
  });
  /** As it is now; undefined if it is not in the table. */
  readonly #present = computed((): Found | undefined => {
    const opened = this.opener.opened();
    const { snapshot } = this.#watched();
    const row = snapshot?.rows.find(({ _id }) => _id === opened?.id);
    return opened && snapshot && row && snapshot.table === opened.table
      ? { opened, row, snapshot }
      : undefined;
  });
  /** As it is, or as it last was; not what has its place in another pipeline. */
  protected readonly found = linkedSignal<Found | undefined, Found | undefined>({
    source: this.#present,
    computation: (present, before) =>
      present && !isAnother(before?.value, present) ? present : before?.value,
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
  /** What there is to say about the row as a whole; empty when it simply is there. */
  protected readonly notice = computed(() => {
    const opened = this.opener.opened();
    const { status, snapshot } = this.#watched();
    const present = this.#present();
    if (!opened) return '';
    if (present && isAnother(this.shown(), present)) {
      const where = `in ${opened.table} another row has this place now`;
      return `The pipeline was changed: ${where}. Below is the one you opened, as it last was.`;
    }
    if (present) return '';
    if (!this.#table()) {
      return this.#catalog.taken() ? `There is no table ${opened.table} now.` : 'Looking it up…';
    }
    if (status && status.state !== 'live' && !this.shown()) return status.message;
    if (!snapshot && status) return 'Looking it up…';
    return this.shown()
      ? `This row has left ${opened.table}. Below is how it last was.`
      : `${opened.table} has no such row. It may have been dropped: a table keeps its newest rows.`;
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

  /** Browsers may close a dialog without asking, when somebody insists. */
  protected closed(): void {
    if (this.opener.opened() && !this.dialog().nativeElement.open) this.opener.close();
  }

  /** Who had the focus before, to give it back. */
  #before: Element | null = null;

  #show(open: boolean, narrow: boolean): void {
    const dialog = this.dialog().nativeElement;
    if (dialog.open && (!open || dialog.matches(':modal') !== narrow)) this.#hide(dialog);
    if (!open || dialog.open) return;
    this.#before = document.activeElement;
    if (narrow) dialog.showModal();
    else dialog.show();
  }

  /** A dialog gives the focus back itself, but not when what had it inside is gone already. */
  #hide(dialog: HTMLDialogElement): void {
    const elsewhere = document.activeElement !== document.body;
    const inside = dialog.contains(document.activeElement);
    dialog.close();
    if (elsewhere && !inside) return;
    // Tables draw their cells anew, so the one that had it may be gone.
    const before = this.#before?.isConnected ? this.#before : document.getElementById('main');
    (before as HTMLElement | null)?.focus();
  }
}

/**
 * Whether a row of another generation only has the same id: ids are of places on topics, and the
 * topics may be others. A message that is the same has the same time.
 */
function isAnother(before: Found | undefined, now: Found): boolean {
  if (!before || before.opened.id !== now.opened.id || before.opened.table !== now.opened.table) {
    return false;
  }
  const made = before.snapshot.generation !== now.snapshot.generation;
  return made && before.row['ts'] !== now.row['ts'];
}

function narrowScreen(): () => boolean {
  const query = matchMedia(NARROW);
  const narrow = signal(query.matches);
  const note = (): void => narrow.set(query.matches);
  query.addEventListener('change', note);
  inject(DestroyRef).onDestroy(() => query.removeEventListener('change', note));
  return narrow.asReadonly();
}
