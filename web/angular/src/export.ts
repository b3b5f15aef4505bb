import type { Client, ExportFormat, TableOptions } from '@evergrid/client';

const ENDINGS: Record<ExportFormat, string> = {
  csv: 'csv',
  arrow: 'arrow',
  json: 'json',
  ndjson: 'ndjson',
};

/** A file of rows, saved where the browser saves files. */
export async function exportRows(
  client: Client,
  table: string,
  options: TableOptions & { readonly format: ExportFormat },
  signal: AbortSignal,
): Promise<void> {
  const blob = await client.download(table, options, signal);
  const address = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = address;
  link.download = `${table}-${stamp(new Date())}.${ENDINGS[options.format]}`;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

function stamp(date: Date): string {
  return date.toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-');
}
