import { Component } from '@angular/core';
import { TestBed } from '@angular/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVERGRID_CLIENT, LiveTable, provideEvergrid } from '../src/index.js';
import { LEDGER, entries } from './ledger.js';
import { House, until } from './stand.js';

let house: House;

beforeAll(async () => {
  house = await House.open();
  await house.call('place', LEDGER, entries(3));
});
afterAll(() => house.close());

@Component({
  imports: [LiveTable],
  template: `
    <eg-live-table table="ledger" />
    <eg-live-table table="ledger" compact heading="Again" />
  `,
})
class Page {}

test('tables of an app need a name alone, and share one connection', async () => {
  const { address: url, secret: key } = house.info;
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

test('a table without a gateway says what is missing', () => {
  expect(() => {
    const page = TestBed.createComponent(Page);
    page.detectChanges();
    TestBed.tick();
  }).toThrow('provideEvergrid');
});
