import { ChangeDetectionStrategy, Component, computed, input, output } from '@angular/core';
import { Icon } from '../icon/icon.js';

export const DEFAULT_PAGE = 300;
export const PAGE_SIZES: readonly number[] = [50, 100, 300, 1000, 5000];

const count = new Intl.NumberFormat();

/** Shows which rows are visible, and goes to others by page or by number. */
@Component({
  selector: 'eg-pager',
  changeDetection: ChangeDetectionStrategy.OnPush,
  imports: [Icon],
  templateUrl: './pager.html',
})
export class Pager {
  /** Rows a page; without it, the table scrolls. */
  readonly page = input<number>();
  /** The first visible row, from 0, and the number of visible rows. */
  readonly first = input.required<number>();
  readonly rows = input.required<number>();
  readonly total = input.required<number>();
  readonly pageChanged = output<number | undefined>();
  readonly positionChosen = output<number>();
  readonly refreshed = output<void>();

  protected readonly sizes = computed(() => {
    const page = this.page();
    const known = page === undefined || PAGE_SIZES.includes(page);
    return known ? PAGE_SIZES : [...PAGE_SIZES, page].sort((one, other) => one - other);
  });
  protected readonly range = computed(() => rowRange(this.first(), this.rows(), this.total()));
  protected readonly isFirst = computed(() => this.first() <= 0);
  protected readonly isLast = computed(() => this.first() + this.rows() >= this.total());

  protected turn(by: number): void {
    this.positionChosen.emit(Math.max(0, this.first() + by * (this.page() ?? DEFAULT_PAGE)));
  }

  protected jump(event: Event, field: HTMLInputElement): void {
    event.preventDefault();
    const row = Number(field.value);
    if (Number.isInteger(row) && row >= 1) this.positionChosen.emit(row - 1);
  }

  protected setSize(size: string): void {
    this.pageChanged.emit(Number(size));
  }

  protected switchMode(): void {
    this.pageChanged.emit(this.page() ? undefined : DEFAULT_PAGE);
  }
}

/** `rows 1–300 of 1,000,000`. */
export function rowRange(first: number, rows: number, total: number): string {
  if (!total || !rows) return total ? `no rows here, ${count.format(total)} in all` : 'no rows';
  const from = count.format(first + 1);
  const to = count.format(Math.min(first + rows, total));
  return `rows ${from}–${to} of ${count.format(total)}`;
}
