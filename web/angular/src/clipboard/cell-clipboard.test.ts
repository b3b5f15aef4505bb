import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { userEvent } from 'vitest/browser';
import { entries, LEDGER } from '../../testing/ledger.js';
import { COLUMNS, row, snapshot } from '../../testing/snapshots.js';
import {
  TableHarness,
  TestGateway,
  until,
  type HarnessOptions,
} from '../../testing/table-harness.js';
import { CellRange } from '../grid/cell-range.js';
import { GridContent } from '../grid/grid-content.js';
import { copyOf } from './cell-clipboard.js';

describe('copied cells', () => {
  const content = new GridContent(
    snapshot(
      0,
      [row(0, { name: 'a\t"b"' }), row(1, { name: null, ts: 1_767_225_600_000_001 })],
      10,
    ),
    false,
  );
  const shown = ['#', 'name', 'age', 'ts'];
  const cell = (line: number, column: string) => ({ line, column });

  test('are a range from either corner', () => {
    const range = new CellRange(cell(1, 'age'), cell(0, 'name'), shown, false);
    expect(copyOf(range, content, COLUMNS).text).toBe('"a\t""b"""\t0\n\t1');
  });

  test('are exact, and whole rows for a range of row numbers', () => {
    const range = new CellRange(cell(1, '#'), cell(1, '#'), shown, true);
    expect(copyOf(range, content, COLUMNS).text).toBe('\t1\t2026-01-01T00:00:00.000001Z');
  });

  test('omit rows that are not loaded, and count them', () => {
    const range = new CellRange(cell(1, 'age'), cell(5, 'age'), shown, false);
    expect(copyOf(range, content, COLUMNS)).toEqual({ text: '1', rows: 1, missing: 4 });
  });
});

describe('copying in a table', () => {
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

  const copied = (): Promise<string> => navigator.clipboard.readText();

  test('copies the focused cell exactly', async () => {
    await live();
    await userEvent.click(harness.cell(2, 'ts'));
    await userEvent.keyboard('{Control>}c{/Control}');
    await until(() => harness.text('.eg-notice') === 'Copied.');
    expect(await copied()).toBe('2026-01-01T00:00:00.002000Z');
  });

  test('copies a range of cells for a spreadsheet', async () => {
    await live();
    await userEvent.click(harness.cell(2, 'name'));
    await userEvent.keyboard('{Shift>}{ArrowDown}{ArrowRight}{ArrowRight}{/Shift}');
    await userEvent.keyboard('{Control>}c{/Control}');
    await until(() => harness.text('.eg-notice') === 'Copied 2 rows.');
    expect(await copied()).toBe('Person 2\t2\t2.50\nPerson 3\t3\t3.50');
    expect(harness.element.querySelectorAll('.eg-selected')).toHaveLength(6);
    await userEvent.keyboard('{Escape}');
    await until(() => !harness.element.querySelector('.eg-selected'));
  });
});
