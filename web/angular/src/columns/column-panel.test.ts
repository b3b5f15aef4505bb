import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, LEDGER } from '../../testing/ledger.js';
import {
  TableHarness,
  TestGateway,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';

let gateway: TestGateway;
let harness: TableHarness;

const live = async (options?: HarnessOptions): Promise<TableHarness> =>
  (harness = await TableHarness.live(gateway, options));

beforeAll(async () => {
  gateway = await TestGateway.open();
  await gateway.call('place', LEDGER, entries(400));
});
beforeEach(() => localStorage.clear());
afterEach(() => harness.end());
afterAll(() => gateway.close());

async function openColumns(): Promise<void> {
  await harness.press('Columns');
  await until(() => harness.element.querySelector('.eg-column-panel'));
}

function box(column: string): HTMLInputElement {
  const labels = [...harness.element.querySelectorAll<HTMLElement>('.eg-column-panel label')];
  const label = labels.find((one) => one.innerText.trim() === column);
  return label!.querySelector('input')!;
}

describe('columns', () => {
  test('are shown, pinned and moved, and stored until the user resets them', async () => {
    await live();
    const first = harness.columns;
    await openColumns();
    await userEvent.click(box('score'));
    await userEvent.click(box('_offset'));
    await harness.press('Pin balance left');
    await harness.press('Move name towards the right');
    const arranged = ['#', 'balance', 'age', 'name', 'member', 'ts', '_offset'];
    await until(() => harness.columns.join() === arranged.join());
    harness.end();
    await live();
    await until(() => harness.columns.join() === arranged.join());
    await openColumns();
    await harness.press('Reset columns');
    await until(() => harness.columns.join() === first.join());
    harness.end();
    await live();
    await until(() => harness.columns.join() === first.join());
  });

  test('keep the width that the user gave them', async () => {
    await live();
    const edge = harness.header('name').querySelector<HTMLElement>('.ag-header-cell-resize')!;
    const before = harness.header('name').offsetWidth;
    await userEvent.dragAndDrop(edge, harness.header('score'));
    await until(() => harness.header('name').offsetWidth !== before);
    const width = harness.header('name').offsetWidth;
    harness.end();
    await live();
    expect(harness.header('name').offsetWidth).toBe(width);
  });

  test('are not stored without `remember`', async () => {
    await live({ remember: false });
    await openColumns();
    await userEvent.click(box('score'));
    await until(() => !harness.columns.includes('score'));
    expect(localStorage.length).toBe(0);
  });
});
