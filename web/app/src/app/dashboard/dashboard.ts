import { Component, computed, inject } from '@angular/core';
import { RouterLink } from '@angular/router';
import { Catalog } from '../live/catalog';
import { Pane } from './pane';

/** The sources and what is made of them, together, over one connection. */
@Component({
  selector: 'app-dashboard',
  imports: [Pane, RouterLink],
  templateUrl: './dashboard.html',
  styleUrl: './dashboard.css',
})
export class Dashboard {
  readonly #catalog = inject(Catalog);
  protected readonly known = computed(() => this.#catalog.taken() > 0);
  protected readonly problem = this.#catalog.problem;
  protected readonly arrangement = this.#catalog.arrangement;
  protected readonly empty = computed(() => {
    const { sources, joins } = this.arrangement();
    return sources.length + joins.length === 0;
  });
}
