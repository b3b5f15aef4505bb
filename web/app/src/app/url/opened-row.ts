/** The row whose details are open, as a query parameter: `open=final_ui:0:17`. */
export interface OpenedRow {
  readonly table: string;
  /** The row's id, which itself contains colons. */
  readonly id: string;
}

export const OPEN_PARAM = 'open';

export function writeOpened({ table, id }: OpenedRow): string {
  return `${table}:${id}`;
}

export function readOpened(text: string | null | undefined): OpenedRow | undefined {
  const match = /^([A-Za-z_]\w*):(.+)$/.exec(text ?? '');
  return match ? { table: match[1]!, id: match[2]! } : undefined;
}
