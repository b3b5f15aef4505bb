import { Component } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVERGRID_CLIENT, LiveTable, provideEvergrid } from './index.js';
import { LEDGER, entries } from '../testing/ledger.js';
import { TestGateway, until } from '../testing/table-harness.js';

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await TestGateway.open();
  await gateway.call('place', LEDGER, entries(3));
});
afterAll(() => gateway.close());

@Component({
  imports: [LiveTable],
  template: `
    <eg-live-table table="ledger" />
    <eg-live-table table="ledger" compact heading="Again" />
  `,
})
class Page {}

test('tables of an app need only a name, and share one connection', async () => {
  const { address: url, secret: key } = gateway.info;
  TestBed.configureTestingModule({ providers: [provideEvergrid({ url, key })] });
  const page = TestBed.createComponent(Page);
  const tables = (): HTMLElement[] => [...page.nativeElement.querySelectorAll('eg-live-table')];
  const first = (table: HTMLElement): string =>
    table.querySelector<HTMLElement>('.ag-row [col-id="name"]')?.innerText ?? '';
  await until(() => tables().map(first).join() === 'Person 0,Person 0');
  const client = TestBed.inject(EVERGRID_CLIENT);
  const { views } = (await client.tables())[0]!;
  expect(views).toBe(1);
  TestBed.resetTestingModule();
  expect(client.status.phase).toBe('closed');
});

test('a table without a connection throws', () => {
  expect(() => {
    const page = TestBed.createComponent(Page);
    page.detectChanges();
    TestBed.tick();
  }).toThrow('provideEvergrid');
});
