import type { Client, ExportFormat, TableOptions } from '@evergrid/client';

const EXTENSIONS: Record<ExportFormat, string> = {
  csv: 'csv',
  arrow: 'arrow',
  json: 'json',
  ndjson: 'ndjson',
};

/** Downloads rows and saves them as a file in the browser. */
export async function exportRows(
  client: Client,
  table: string,
  options: TableOptions & { readonly format: ExportFormat },
  signal: AbortSignal,
): Promise<void> {
  const blob = await client.download(table, options, signal);
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${table}-${timestamp(new Date())}.${EXTENSIONS[options.format]}`;
  link.click();
  // By then the browser has started to read it.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function timestamp(date: Date): string {
  return date.toISOString().slice(0, 19).replaceAll(':', '').replace('T', '-');
}
