import { signal } from '@angular/core';
import { EvergridError, type Client, type ExportFormat, type TableOptions } from '@evergrid/client';
import type { CellCopy } from '../clipboard/cell-clipboard.js';
import { exportRows } from '../export/export-rows.js';

const SHOWN_MS = 5000;

/** A message about an action of the user. */
export interface Notice {
  readonly text: string;
  readonly isError?: boolean;
  /** Cancels the action. */
  readonly cancel?: () => void;
}

/** Shows the progress and results of exports and copies; results disappear after seconds. */
export class Notices {
  readonly notice = signal<Notice | undefined>(undefined);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private runningExport: AbortController | undefined;

  copied({ rows, missing }: CellCopy, done: boolean): void {
    if (!done) this.show({ text: 'Copying failed: the browser does not allow it.', isError: true });
    else if (missing) {
      const text = `Copied ${rows} rows. ${missing} more are not loaded; use Export for them.`;
      this.show({ text, isError: true });
    } else this.show({ text: rows === 1 ? 'Copied.' : `Copied ${rows} rows.` });
  }

  /** Exports rows; a running export is cancelled. */
  export(
    client: Client,
    table: string,
    options: TableOptions & { readonly format: ExportFormat },
  ): void {
    this.runningExport?.abort();
    const controller = new AbortController();
    this.runningExport = controller;
    const name = options.format === 'csv' ? 'CSV' : 'Arrow';
    const cancel = (): void => controller.abort();
    this.show({ text: `Exporting as ${name}…`, cancel });
    exportRows(client, table, options, controller.signal).then(
      () => this.show({ text: `Exported as ${name}: the file is in your downloads.` }),
      (error: unknown) => this.failed(error, controller.signal.aborted),
    );
  }

  dismiss(): void {
    clearTimeout(this.timer);
    this.notice.set(undefined);
  }

  destroy(): void {
    this.runningExport?.abort();
    clearTimeout(this.timer);
  }

  private failed(error: unknown, cancelled: boolean): void {
    if (cancelled) this.show({ text: 'Export cancelled.' });
    else {
      const reason =
        error instanceof EvergridError ? error.message : 'The connection was lost. Try again.';
      this.show({ text: `Export failed. ${reason}`, isError: true });
    }
  }

  private show(notice: Notice): void {
    clearTimeout(this.timer);
    this.notice.set(notice);
    if (!notice.cancel && !notice.isError) this.timer = setTimeout(() => this.dismiss(), SHOWN_MS);
  }
}
