/** Single questions to a gateway over HTTP. */

import { EvergridError, sentence } from './errors.js';
import { written } from './messages.js';
import { placeOf, questionOf, type Question } from './question.js';
import type { ExportFormat, OrderBy, TableInfo, TableOptions } from './types.js';

export type DownloadOptions = TableOptions & { readonly format: ExportFormat };

/** Asks with a key, and gives the gateway's own words when it says no. */
export class Asker {
  readonly #address: string;
  readonly #key: string;

  constructor(address: string, key: string) {
    this.#address = address;
    this.#key = key;
  }

  get(path: string, signal?: AbortSignal): Promise<Response> {
    return this.#fetch(path, {}, 'The gateway cannot be reached.', signal);
  }

  /** Sends JSON. Whoever gets no answer cannot know whether it arrived: `silence` says so. */
  post(path: string, body: object, silence: string, signal?: AbortSignal): Promise<Response> {
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    return this.#fetch(path, request, silence, signal);
  }

  async #fetch(
    path: string,
    request: RequestInit,
    silence: string,
    signal?: AbortSignal,
  ): Promise<Response> {
    if (!path.startsWith('/')) {
      throw new EvergridError('bad_address', 'A path of the gateway begins with a slash.');
    }
    let answer: Response;
    try {
      answer = await fetch(this.#address + path, {
        ...request,
        headers: { ...request.headers, Authorization: `Bearer ${this.#key}` },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error', // the key is for this address alone
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EvergridError('unreachable', silence, true);
    }
    if (!answer.ok) throw await refusal(answer);
    return answer;
  }

  async tables(signal?: AbortSignal): Promise<readonly TableInfo[]> {
    const answer = await this.get('/api/tables', signal);
    return ((await answer.json()) as { tables: TableInfo[] }).tables;
  }

  async download(table: string, options: DownloadOptions, signal?: AbortSignal): Promise<Blob> {
    const path = `/api/tables/${encodeURIComponent(table)}/rows?${parameters(table, options)}`;
    const answer = await this.get(path, signal);
    try {
      return await answer.blob();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EvergridError('unreachable', 'The download broke off. Please try again.', true);
    }
  }
}

function parameters(table: string, options: DownloadOptions): URLSearchParams {
  const question: Question = questionOf(table, options);
  const { offset } = placeOf({ offset: options.offset ?? 0 });
  const wanted = new URLSearchParams();
  if (question.columns) wanted.set('columns', question.columns.join(','));
  if (question.filter) wanted.set('filter', written(question.filter));
  if (question.search) wanted.set('search', question.search);
  if (question.order) wanted.set('order', question.order.map(spelled).join(','));
  if (offset) wanted.set('offset', String(offset));
  wanted.set('limit', options.limit === undefined ? 'all' : String(options.limit));
  wanted.set('format', options.format);
  // People open it in a spreadsheet, which would run texts of strangers as formulas.
  if (options.format === 'csv') wanted.set('guard', 'true');
  return wanted;
}

function spelled({ column, descending, nulls }: OrderBy): string {
  return `${descending ? '-' : ''}${column}${nulls === 'first' ? ':first' : ''}`;
}

interface Refusal {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly retry?: boolean;
  };
}

async function refusal(answer: Response): Promise<EvergridError> {
  let said: Refusal['error'];
  try {
    said = ((await answer.json()) as Refusal).error;
  } catch {
    said = undefined;
  }
  const { status } = answer;
  if (said?.code && said.message)
    return new EvergridError(said.code, sentence(said.message), said.retry ?? false);
  if (status === 401) return new EvergridError('bad_key', 'The key is not accepted.');
  const retry = status >= 500 || status === 408 || status === 429;
  return new EvergridError('unexpected', `The gateway answered ${status}.`, retry);
}
