import { signal } from '@angular/core';
import { EvergridError, type Client, type ExportFormat, type TableOptions } from '@evergrid/client';
import type { Copy } from './clipboard.js';
import { exportRows } from './export.js';

const SHOWN_MS = 5000;

/** A sentence about something that somebody has just done. */
export interface Notice {
  readonly text: string;
  readonly bad?: boolean;
  /** Ends what is under way. */
  readonly cancel?: () => void;
}

/** Says how exports and copies go; what is over is said for some seconds. */
export class Notices {
  readonly notice = signal<Notice | undefined>(undefined);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private underWay: AbortController | undefined;

  copied({ rows, missing }: Copy, done: boolean): void {
    if (!done) this.say({ text: 'The browser did not let us copy.', bad: true });
    else if (missing) {
      const text = `Copied ${rows} rows. ${missing} more are not loaded: use Export for them.`;
      this.say({ text, bad: true });
    } else this.say({ text: rows === 1 ? 'Copied.' : `Copied ${rows} rows.` });
  }

  /** Exports, one at a time, and says how it goes. */
  exporting(
    client: Client,
    table: string,
    options: TableOptions & { readonly format: ExportFormat },
  ): void {
    this.underWay?.abort();
    const ending = new AbortController();
    this.underWay = ending;
    const name = options.format === 'csv' ? 'CSV' : 'Arrow';
    const cancel = (): void => ending.abort();
    this.say({ text: `Exporting as ${name}: the gateway sends the rows.`, cancel });
    exportRows(client, table, options, ending.signal).then(
      () => this.say({ text: `Exported as ${name}: the file is with your downloads.` }),
      (error: unknown) => this.failed(error, ending.signal.aborted),
    );
  }

  dismiss(): void {
    clearTimeout(this.timer);
    this.notice.set(undefined);
  }

  destroy(): void {
    this.underWay?.abort();
    clearTimeout(this.timer);
  }

  private failed(error: unknown, cancelled: boolean): void {
    if (cancelled) this.say({ text: 'The export was cancelled.' });
    else {
      const why =
        error instanceof EvergridError ? error.message : 'The connection broke. Try again.';
      this.say({ text: `The export failed. ${why}`, bad: true });
    }
  }

  private say(notice: Notice): void {
    clearTimeout(this.timer);
    this.notice.set(notice);
    if (!notice.cancel && !notice.bad) this.timer = setTimeout(() => this.dismiss(), SHOWN_MS);
  }
}
