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
import { Address } from '../address/address';
import { Asked } from '../control/asked';
import { Opener } from '../details/opener';
import { DetailsPanel } from '../details/panel';
import { Catalog } from '../live/catalog';
import { isAboutPipeline, kindOf } from '../live/kinds';
import { watchConnection } from '../live/watch';
import { Session } from '../session/session';
import { Connection, ConnectionNotice } from './connection';
import { PreparingNotice } from './preparing';
import { ThemeSwitch } from './switch';
import { TroubleNotice } from './trouble';

/** The frame around every page, for as long as somebody is logged in. */
@Component({
  selector: 'app-shell',
  imports: [
    Connection,
    ConnectionNotice,
    DetailsPanel,
    PreparingNotice,
    RouterLink,
    RouterLinkActive,
    RouterOutlet,
    ThemeSwitch,
    TroubleNotice,
  ],
  providers: [Asked, Catalog],
  templateUrl: './shell.html',
  styleUrl: './shell.css',
  host: { '(keydown.escape)': 'fold()' },
})
export class Shell {
  readonly #session = inject(Session);
  readonly #router = inject(Router);
  readonly #injector = inject(Injector);
  readonly #catalog = inject(Catalog);
  readonly #path = inject(Address).path;
  private readonly menu = viewChild.required<ElementRef<HTMLElement>>('menu');
  private readonly burger = viewChild.required<ElementRef<HTMLElement>>('burger');
  private readonly content = viewChild.required<ElementRef<HTMLElement>>('content');

  protected readonly opener = inject(Opener);
  protected readonly status = watchConnection();
  /** The menu of narrow screens. */
  protected readonly folded = signal(true);
  protected readonly login = this.#session.login;
  /** Those of data; others have a better place, the quarantine page or the status page. */
  protected readonly tables = computed(() =>
    this.#catalog
      .tables()
      .filter((table) => kindOf(table) !== 'quarantine' && !isAboutPipeline(table))
      .map(({ name }) => name),
  );

  constructor() {
    let path = untracked(this.#path);
    if (this.#session.byHand) this.#focusPage();
    effect(() => {
      if (this.#path() === path) return;
      path = this.#path();
      this.folded.set(true);
      // The first page was not gone to from another, and has the focus where browsers begin.
      if (untracked(this.#router.lastSuccessfulNavigation)?.previousNavigation) this.#focusPage();
    });
  }

  protected fold(): void {
    const inside = this.menu().nativeElement.contains(document.activeElement);
    if (!this.folded() && inside) this.burger().nativeElement.focus();
    this.folded.set(true);
  }

  protected skip(event: Event): void {
    event.preventDefault();
    this.content().nativeElement.focus();
  }

  protected leave(): void {
    this.#session.leave();
    void this.#router.navigateByUrl('/');
  }

  /** Where the next key goes to, and what a screen reader reads, after going to another page. */
  #focusPage(): void {
    const focus = (): void => {
      const content = this.content().nativeElement;
      (content.querySelector<HTMLElement>('h1[tabindex]') ?? content).focus();
    };
    afterNextRender(focus, { injector: this.#injector });
  }
}
