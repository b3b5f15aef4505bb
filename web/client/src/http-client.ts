/** Requests to a gateway over HTTP. */

import { asSentence, EvergridError } from './errors.js';
import { toJson } from './messages.js';
import { placeOf, tableQueryOf } from './table-query.js';
import type { ExportFormat, OrderBy, TableInfo, TableOptions } from './types.js';

export type DownloadOptions = TableOptions & { readonly format: ExportFormat };

/** Sends requests with the key; errors have the gateway's code and message. */
export class HttpClient {
  readonly #address: string;
  readonly #key: string;

  constructor(address: string, key: string) {
    this.#address = address;
    this.#key = key;
  }

  get(path: string, signal?: AbortSignal): Promise<Response> {
    return this.#fetch(path, {}, 'The gateway cannot be reached.', signal);
  }

  /** Sends JSON. `noAnswer` is the error message for a request of which the outcome is unknown. */
  post(path: string, body: object, noAnswer: string, signal?: AbortSignal): Promise<Response> {
    const request = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    return this.#fetch(path, request, noAnswer, signal);
  }

  async #fetch(
    path: string,
    request: RequestInit,
    noAnswer: string,
    signal?: AbortSignal,
  ): Promise<Response> {
    if (!path.startsWith('/')) {
      throw new EvergridError(
        'bad_address',
        'Invalid path: a path of the gateway begins with a slash.',
      );
    }
    let response: Response;
    try {
      response = await fetch(this.#address + path, {
        ...request,
        headers: { ...request.headers, Authorization: `Bearer ${this.#key}` },
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error', // the key must not go to another address
        ...(signal ? { signal } : {}),
      });
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EvergridError('unreachable', noAnswer, true);
    }
    if (!response.ok) throw await errorOf(response);
    return response;
  }

  async tables(signal?: AbortSignal): Promise<readonly TableInfo[]> {
    const response = await this.get('/api/tables', signal);
    return ((await response.json()) as { tables: TableInfo[] }).tables;
  }

  async download(table: string, options: DownloadOptions, signal?: AbortSignal): Promise<Blob> {
    const path = `/api/tables/${encodeURIComponent(table)}/rows?${parameters(table, options)}`;
    const response = await this.get(path, signal);
    try {
      return await response.blob();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new EvergridError('unreachable', 'Download interrupted. Try again.', true);
    }
  }
}

function parameters(table: string, options: DownloadOptions): URLSearchParams {
  const query = tableQueryOf(table, options);
  const { offset } = placeOf({ offset: options.offset ?? 0 });
  const params = new URLSearchParams();
  if (query.columns) params.set('columns', query.columns.join(','));
  if (query.filter) params.set('filter', toJson(query.filter));
  if (query.search) params.set('search', query.search);
  if (query.order) params.set('order', query.order.map(orderParam).join(','));
  if (offset) params.set('offset', String(offset));
  params.set('limit', options.limit === undefined ? 'all' : String(options.limit));
  params.set('format', options.format);
  // A spreadsheet would run texts such as "=1+1" as formulas.
  if (options.format === 'csv') params.set('guard', 'true');
  return params;
}

function orderParam({ column, descending, nulls }: OrderBy): string {
  return `${descending ? '-' : ''}${column}${nulls === 'first' ? ':first' : ''}`;
}

interface ErrorBody {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly retry?: boolean;
  };
}

async function errorOf(response: Response): Promise<EvergridError> {
  let error: ErrorBody['error'];
  try {
    error = ((await response.json()) as ErrorBody).error;
  } catch {
    error = undefined;
  }
  const { status } = response;
  if (error?.code && error.message)
    return new EvergridError(error.code, asSentence(error.message), error.retry ?? false);
  if (status === 401)
    return new EvergridError(
      'bad_key',
      'Authentication failed: the gateway does not accept the key.',
    );
  const retry = status >= 500 || status === 408 || status === 429;
  return new EvergridError(
    'unexpected',
    `Unexpected HTTP status ${status} from the gateway.`,
    retry,
  );
}
