import {
  afterNextRender,
  Component,
  computed,
  effect,
  ElementRef,
  inject,
  Injector,
  signal,
  untracked,
  viewChild,
} from '@angular/core';
import { Router, RouterLink, RouterLinkActive, RouterOutlet } from '@angular/router';
import { UrlParams } from '../url/url-params';
import { ControlSender } from '../control/control-sender';
import { RowOpener } from '../details/row-opener';
import { DetailsPanel } from '../details/details-panel';
import { TableCatalog } from '../live/table-catalog';
import { isAboutPipeline, kindOf } from '../live/table-kinds';
import { watchConnection } from '../live/table-watch';
import { Session } from '../session/session';
import { ConnectionIndicator, ConnectionNotice } from './connection-status';
import { PreparingNotice } from './preparing-notice';
import { ThemeSwitch } from './theme-switch';
import { LoadErrorNotice } from './load-error';

/** The frame around every page, for a logged-in user. */
@Component({
  selector: 'app-shell',
  imports: [
    ConnectionIndicator,
    ConnectionNotice,
    DetailsPanel,
    PreparingNotice,
    RouterLink,
    RouterLinkActive,
    RouterOutlet,
    ThemeSwitch,
    LoadErrorNotice,
  ],
  providers: [ControlSender, TableCatalog],
  templateUrl: './shell.html',
  styleUrl: './shell.css',
  host: { '(keydown.escape)': 'collapseMenu()' },
})
export class Shell {
  readonly #session = inject(Session);
  readonly #router = inject(Router);
  readonly #injector = inject(Injector);
  readonly #catalog = inject(TableCatalog);
  readonly #path = inject(UrlParams).path;
  private readonly menu = viewChild.required<ElementRef<HTMLElement>>('menu');
  private readonly menuButton = viewChild.required<ElementRef<HTMLElement>>('menuButton');
  private readonly content = viewChild.required<ElementRef<HTMLElement>>('content');

  protected readonly opener = inject(RowOpener);
  protected readonly status = watchConnection();
  /** Whether the menu of narrow screens is closed. */
  protected readonly collapsed = signal(true);
  protected readonly login = this.#session.login;
  /** Data tables; others are on the quarantine page and the status page. */
  protected readonly tables = computed(() =>
    this.#catalog
      .tables()
      .filter((table) => kindOf(table) !== 'quarantine' && !isAboutPipeline(table))
      .map(({ name }) => name),
  );

  constructor() {
    let path = untracked(this.#path);
    if (this.#session.keyEntered) this.#focusPage();
    effect(() => {
      if (this.#path() === path) return;
      path = this.#path();
      this.collapsed.set(true);
      // Not on the first page, where the browser sets the focus.
      if (untracked(this.#router.lastSuccessfulNavigation)?.previousNavigation) this.#focusPage();
    });
  }

  protected collapseMenu(): void {
    const inside = this.menu().nativeElement.contains(document.activeElement);
    if (!this.collapsed() && inside) this.menuButton().nativeElement.focus();
    this.collapsed.set(true);
  }

  protected skip(event: Event): void {
    event.preventDefault();
    this.content().nativeElement.focus();
  }

  protected logOut(): void {
    this.#session.logOut();
    void this.#router.navigateByUrl('/');
  }

  /** Moves the focus to the content, for keyboard and screen reader, after a navigation. */
  #focusPage(): void {
    const focus = (): void => {
      const content = this.content().nativeElement;
      (content.querySelector<HTMLElement>('h1[tabindex]') ?? content).focus();
    };
    afterNextRender(focus, { injector: this.#injector });
  }
}
