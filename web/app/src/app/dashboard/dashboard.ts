import { Component, computed, inject } from '@angular/core';
import { RouterLink } from '@angular/router';
import { TableCatalog } from '../live/table-catalog';
import { DashboardTable } from './dashboard-table';

/** All sources and joined tables on one page, over one connection. */
@Component({
  selector: 'app-dashboard',
  imports: [DashboardTable, RouterLink],
  templateUrl: './dashboard.html',
  styleUrl: './dashboard.css',
})
export class Dashboard {
  readonly #catalog = inject(TableCatalog);
  protected readonly known = computed(() => this.#catalog.updatedAt() > 0);
  protected readonly error = this.#catalog.error;
  protected readonly arrangement = this.#catalog.arrangement;
  protected readonly empty = computed(() => {
    const { sources, joins } = this.arrangement();
    return sources.length + joins.length === 0;
  });
}
