/** A row that is looked at closely, as the address names it: `open=final_ui:0:17`. */
export interface Opened {
  readonly table: string;
  /** The row's id, whose parts are themselves joined by colons. */
  readonly id: string;
}

export const OPEN = 'open';

export function writeOpened({ table, id }: Opened): string {
  return `${table}:${id}`;
}

export function readOpened(text: string | null | undefined): Opened | undefined {
  const match = /^([A-Za-z_]\w*):(.+)$/.exec(text ?? '');
  return match ? { table: match[1]!, id: match[2]! } : undefined;
}
