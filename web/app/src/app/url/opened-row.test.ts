import { expect, it } from 'vitest';
import { readOpened, writeOpened } from './opened-row';

it('has a row by its table and its id', () => {
  for (const id of ['0:17', '0:17:1:240', 'my.topic-1:0:9007199254740993']) {
    const opened = { table: 'final_ui', id };
    expect(readOpened(writeOpened(opened))).toEqual(opened);
  }
});

it('is undefined for invalid parameters', () => {
  for (const text of [null, undefined, '', 'final_ui', 'final_ui:', ':0:1', '1table:0:1']) {
    expect(readOpened(text)).toBeUndefined();
  }
});
