/** Creates a live table with a real gateway, and reads what the user sees. */

import { type ComponentRef, createComponent, EnvironmentInjector } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { ApplicationRef } from '@angular/core';
import { connect, type Client } from '@evergrid/client';
import { expect, vi } from 'vitest';
import { cdp, commands, userEvent } from 'vitest/browser';
import type { GatewayInfo, GatewayOptions } from '../../client/testing/gateway-process.js';
import { until } from '../../client/testing/wait.js';
import { LiveTable, type RowOpened, type ViewState } from '../src/index.js';

export { until };

const { startGateway, callGateway, stopGateway } = commands as unknown as {
  startGateway(options: GatewayOptions): Promise<GatewayInfo>;
  callGateway(
    address: string,
    on: string,
    call: string,
    given: readonly unknown[],
  ): Promise<unknown>;
  stopGateway(address: string): Promise<void>;
};

/** Emulates the system's setting for reduced motion. */
export async function setReducedMotion(value: 'reduce' | 'no-preference'): Promise<void> {
  const session = cdp() as unknown as { send(name: string, given: object): Promise<unknown> };
  const features = [{ name: 'prefers-reduced-motion', value }];
  await session.send('Emulation.setEmulatedMedia', { features });
}

/** A gateway that accepts the origin of the test page. */
export class TestGateway {
  private constructor(readonly info: GatewayInfo) {}

  static async open(): Promise<TestGateway> {
    return new TestGateway(await startGateway({ origins: [location.origin] }));
  }

  call<T = void>(call: string, ...given: unknown[]): Promise<T> {
    return callGateway(this.info.address, 'gateway', call, given) as Promise<T>;
  }

  network(call: string, ...given: unknown[]): Promise<unknown> {
    return callGateway(this.info.address, 'proxy', call, given);
  }

  close(): Promise<void> {
    return stopGateway(this.info.address);
  }
}

export interface HarnessOptions {
  readonly table?: string;
  readonly look?: ViewState;
  readonly columns?: readonly string[];
  readonly compact?: boolean;
  readonly heading?: string;
  readonly remember?: boolean;
  readonly key?: string;
}

/** One `<eg-live-table>`, as the user sees it. */
export class TableHarness {
  readonly opened: RowOpened[] = [];
  readonly emitted: ViewState[] = [];
  private readonly consoleSpies = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')];

  private constructor(
    readonly component: ComponentRef<LiveTable>,
    readonly element: HTMLElement,
    readonly client: Client,
  ) {
    component.instance.rowOpened.subscribe((row) => this.opened.push(row));
    component.instance.look.subscribe((look) => this.emitted.push(look));
  }

  static build(
    gateway: TestGateway,
    { table = 'ledger', key, ...options }: HarnessOptions = {},
  ): TableHarness {
    const client = connect({ url: gateway.info.proxy, key: key ?? gateway.info.secret });
    const element = document.createElement('eg-live-table');
    Object.assign(element.style, { width: '1100px', height: '560px' });
    document.body.append(element);
    const environmentInjector = TestBed.inject(EnvironmentInjector);
    const component = createComponent(LiveTable, { environmentInjector, hostElement: element });
    for (const [name, value] of Object.entries({ table, client, ...options })) {
      component.setInput(name, value);
    }
    TestBed.inject(ApplicationRef).attachView(component.hostView);
    return new TableHarness(component, element, client);
  }

  /** A table with its first rows. */
  static async live(gateway: TestGateway, options: HarnessOptions = {}): Promise<TableHarness> {
    const harness = TableHarness.build(gateway, options);
    await harness.sees('status', 'Live');
    await until(() => harness.rows !== 'no rows');
    return harness;
  }

  /** Removes the table; fails if there were errors or warnings in the console. */
  end(): void {
    this.component.destroy();
    this.element.remove();
    this.client.close();
    for (const spy of this.consoleSpies) {
      const messages = spy.mock.calls.map((words) => words.join(' '));
      spy.mockRestore();
      expect(messages.filter((words) => !words.includes('WebSocket'))).toEqual([]);
    }
  }

  set(name: string, value: unknown): void {
    this.component.setInput(name, value);
  }

  get look(): ViewState {
    return this.component.instance.look();
  }

  find<T extends HTMLElement>(selector: string): T {
    const found = this.element.querySelector<T>(selector);
    if (!found) throw new Error(`no element ${selector}`);
    return found;
  }

  text(selector: string): string {
    return this.element.querySelector<HTMLElement>(selector)?.innerText.trim() ?? '';
  }

  get status(): string {
    return this.text('.eg-status');
  }

  /** The text in place of rows. */
  get overlay(): string {
    return this.text('.eg-overlay p');
  }

  get banner(): string {
    return this.text('.eg-banner');
  }

  /** "rows 1–18 of 300" */
  get rows(): string {
    return this.text('[data-eg="rows"]');
  }

  /** Records all texts of the status chip, the overlay and the banner from now on. */
  recordTexts(): Readonly<Record<'statuses' | 'overlays' | 'banners', ReadonlySet<string>>> {
    const texts = {
      statuses: new Set<string>(),
      overlays: new Set<string>(),
      banners: new Set<string>(),
    };
    const record = (): void => {
      texts.statuses.add(this.status);
      texts.overlays.add(this.overlay);
      texts.banners.add(this.banner);
    };
    record();
    const options = { subtree: true, childList: true, characterData: true };
    new MutationObserver(record).observe(this.element, options);
    return texts;
  }

  sees(what: 'status' | 'overlay' | 'banner' | 'rows', words: string | RegExp): Promise<unknown> {
    return until(
      () => this[what],
      (seen) => (typeof words === 'string' ? seen.includes(words) : words.test(seen)),
    );
  }

  get columns(): string[] {
    const cells = [...this.element.querySelectorAll<HTMLElement>('.ag-header-cell')];
    const left = (cell: HTMLElement): number => cell.getBoundingClientRect().left;
    return cells.sort((a, b) => left(a) - left(b)).map((cell) => cell.getAttribute('col-id') ?? '');
  }

  header(column: string): HTMLElement {
    return this.find(`.ag-header-cell[col-id="${column}"]`);
  }

  cell(line: number, column: string): HTMLElement {
    return this.find(`.ag-row[row-index="${line}"] [col-id="${column}"]`);
  }

  /** The texts of a column, from the first drawn line on. */
  values(column: string): string[] {
    const cells = [...this.element.querySelectorAll<HTMLElement>(`.ag-cell[col-id="${column}"]`)];
    const line = (cell: HTMLElement): number =>
      Number(cell.closest('.ag-row')?.getAttribute('row-index'));
    return cells.sort((a, b) => line(a) - line(b)).map((cell) => cell.innerText);
  }

  /** Waits until the first lines of a column have these texts. */
  async shows(column: string, ...texts: string[]): Promise<void> {
    await until(
      () => this.values(column).slice(0, texts.length),
      (seen) => JSON.stringify(seen) === JSON.stringify(texts),
    );
  }

  button(name: string): HTMLButtonElement {
    const buttons = [...this.element.querySelectorAll('button')];
    const is = (one: HTMLButtonElement): boolean =>
      (one.getAttribute('aria-label') ?? one.innerText.trim()) === name;
    const found = buttons.find(is);
    if (!found) throw new Error(`no button ${name}`);
    return found;
  }

  async press(name: string): Promise<void> {
    await until(() => this.element.querySelectorAll('button').length > 0);
    await userEvent.click(this.button(name));
  }

  get scroller(): HTMLElement {
    return this.find('.ag-grid-viewport');
  }
}
