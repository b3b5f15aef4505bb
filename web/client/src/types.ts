/** The public types of the client. */

export type ColumnType =
  | { readonly kind: 'text' | 'integer' | 'float' | 'boolean' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number };

/** `role`: data, the row's time, or trace (where the row came from). */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly role: 'data' | 'time' | 'trace';
}

/**
 * The exact value of a cell: text is a string; an integer is a number, beyond 2^53 a bigint; a float
 * is a number; a decimal is a string with all digits ("12.50"); a timestamp is the microseconds since
 * 1970 as a number, beyond 2^53 as a bigint.
 */
export type Value = string | number | bigint | boolean | null;

/** A row that has not changed between two snapshots is the same object in both. */
export type Row = Readonly<Record<string, Value>> & { readonly _id: string };

export type Operator =
  | 'equals'
  | 'not'
  | 'in'
  | 'less'
  | 'less_or_equal'
  | 'greater'
  | 'greater_or_equal'
  | 'between'
  | 'contains'
  | 'starts_with'
  | 'is_null'
  | 'not_null';

export type FilterValue = string | number | boolean;

export interface Condition {
  readonly column: string;
  readonly op: Operator;
  readonly value?: FilterValue | readonly FilterValue[];
  readonly ignore_case?: boolean;
}

export type Filter =
  Condition | { readonly and: readonly Filter[] } | { readonly or: readonly Filter[] };

export interface OrderBy {
  readonly column: string;
  readonly descending?: boolean;
  readonly nulls?: 'first' | 'last';
}

/** Which rows and columns of a table, in which order. Default: all, in the table's own order. */
export interface Query {
  readonly columns?: readonly string[];
  readonly filter?: Filter;
  readonly search?: string;
  readonly order?: readonly OrderBy[];
}

/** Which rows of the result. A negative offset counts from the end and moves with it. */
export interface Place {
  readonly offset: number;
  readonly limit: number;
}

export type TableOptions = Query & Partial<Place>;

/** A window at one moment. Immutable: the next state is another snapshot. */
export interface Snapshot {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Rows of the whole result. */
  readonly total: number;
  /** Rows of the result above the first one here; never negative. */
  readonly offset: number;
  /** The requested place: frames of an earlier place may arrive after a move. */
  readonly place: Place;
  /** 0 for tables without generations. */
  readonly generation: number;
  /** When the gateway created it, milliseconds since 1970. */
  readonly time: number;
}

/**
 * - `connecting`: no rows yet
 * - `waiting`: the table does not exist now or, with a `code`, cannot answer this query; the window
 *   becomes live when it can
 * - `loading`: the gateway loads the table; `done` of `total` changes
 * - `live`: the rows are up to date
 * - `stale`: the gateway does not receive changes; the rows were up to date at `since`
 * - `reconnecting`: no connection since `since`; the rows are outdated
 * - `refused`: the gateway refuses (`code`), and a retry does not help
 * - `closed`: disposed
 */
export type TableState =
  'connecting' | 'waiting' | 'loading' | 'live' | 'stale' | 'reconnecting' | 'refused' | 'closed';

export interface TableStatus {
  readonly state: TableState;
  /** A sentence for the user, never empty. */
  readonly message: string;
  /** The table is live but may lack rows; the message says which and why. */
  readonly warning?: boolean;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly done?: number;
  readonly total?: number;
  /** The gateway's error code, as in the protocol. */
  readonly code?: string;
}

/** A subscription to a window of a table. Equal subscriptions share one window of the gateway. */
export interface TableSubscription {
  readonly table: string;
  /** The rows of the newest snapshot; empty before the first. */
  readonly rows: readonly Row[];
  readonly snapshot: Snapshot | undefined;
  readonly status: TableStatus;
  /** Calls with the present snapshot and every new one. Returns the unsubscriber. */
  onRows(listener: (snapshot: Snapshot) => void): () => void;
  /** Calls with the present status and every new one. Returns the unsubscriber. */
  onStatus(listener: (status: TableStatus) => void): () => void;
  /** Moves to other rows of the same result. */
  move(place: Partial<Place>): void;
  /** Changes the query; the present rows stay until the new ones arrive. */
  change(query: Query, place?: Partial<Place>): void;
  dispose(): void;
}

/**
 * - `connecting`, `open`
 * - `waiting`: connection lost, next attempt at `retryAt`
 * - `refused`: a retry does not help, for example with a wrong key (`code`)
 * - `closed`: by `close()`
 */
export type ConnectionPhase = 'connecting' | 'open' | 'waiting' | 'refused' | 'closed';

export interface ConnectionStatus {
  readonly phase: ConnectionPhase;
  readonly message: string;
  readonly code?: string;
  /** When the connection was lost, and the next attempt: milliseconds since 1970. */
  readonly since?: number;
  readonly retryAt?: number;
  /** The login, once the gateway has accepted the key. */
  readonly login?: Login;
}

export interface Login {
  /** The name of the key. */
  readonly key: string;
  /** Whether it may send control messages. */
  readonly control: boolean;
  readonly server: string;
  readonly instance: string;
  readonly maxRows: number;
}

/** Rows that a joined table may lack, and why. Microseconds since 1970. */
export interface TableGap {
  readonly reason: string;
  readonly messages: number;
  readonly keys: readonly string[];
  readonly since: number;
}

/** A table as in `/api/tables`; docs/http.md explains the fields. */
export interface TableInfo {
  readonly name: string;
  readonly state: 'waiting' | 'loading' | 'live' | 'stale';
  readonly message: string;
  readonly generation: number;
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly bytes: number;
  readonly max_rows: number;
  readonly max_bytes: number;
  readonly changes: number;
  readonly changes_per_second: number;
  readonly newest: number;
  readonly lag_seconds: number;
  readonly since: number;
  readonly views: number;
  readonly done: number;
  readonly total: number;
  readonly gaps?: readonly TableGap[];
}

/**
 * What a control message may ask for: any of `topics` for a source, any of `types` for a join.
 * `field` is the message's field for it, `topic` and `type` the present values.
 */
export interface ControlChoices {
  /** The topic that control messages are written to. */
  readonly topic: string;
  readonly topics: readonly string[];
  readonly sources: readonly {
    readonly name: string;
    readonly field: string;
    readonly topic: string;
  }[];
  readonly joins: readonly {
    readonly name: string;
    readonly field: string;
    readonly type: string;
  }[];
  readonly types: readonly string[];
}

/** `{ usersTopic: 'users_v2', joinType: 'left' }`; other fields keep their values. */
export type ControlMessage = Readonly<Record<string, string>>;

/** A message's position on the control topic; `control_raw` has its verdict at this position. */
export interface ControlPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Changes the pipeline. Keys without the control right get the error `no_rights`. */
export interface Control {
  choices(signal?: AbortSignal): Promise<ControlChoices>;
  /** Resolves when the message is on the control topic; its verdict follows in `control_raw`. */
  ask(message: ControlMessage, signal?: AbortSignal): Promise<ControlPlace>;
}

export type ExportFormat = 'csv' | 'arrow' | 'json' | 'ndjson';

export interface ClientOptions {
  /** The gateway's address: "https://grid.example.com". Default: the page's own origin. */
  readonly url?: string;
  readonly key: string;
}

/** One connection to a gateway, for any number of tables. */
export interface Client {
  readonly url: string;
  readonly status: ConnectionStatus;
  onStatus(listener: (status: ConnectionStatus) => void): () => void;
  /** Resolves with the first `welcome`; rejects with an EvergridError if the gateway refuses. */
  login(): Promise<Login>;
  subscribe(table: string, options?: TableOptions): TableSubscription;
  /** GET with the client's key; rejects with an EvergridError that has the gateway's message. */
  get(path: string, signal?: AbortSignal): Promise<Response>;
  /** The tables that the key may read. */
  tables(signal?: AbortSignal): Promise<readonly TableInfo[]>;
  /** All rows of a query, or those of a place, as a file. CSV is safe for spreadsheets. */
  download(
    table: string,
    options: TableOptions & { readonly format: ExportFormat },
    signal?: AbortSignal,
  ): Promise<Blob>;
  /** Changes the pipeline behind the tables. */
  readonly control: Control;
  /** Connects at once instead of at `retryAt`, also after a refusal. */
  retry(): void;
  close(): void;
}
