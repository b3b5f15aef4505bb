/** The words that the client and those who use it share. */

export type ColumnType =
  | { readonly kind: 'text' | 'integer' | 'float' | 'boolean' | 'timestamp' }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number };

/** `role` says what a column is for: the data, its time, or where the row came from. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly role: 'data' | 'time' | 'trace';
}

/**
 * A cell, exact: a text is a string; an integer a number, or a bigint beyond 2^53; a float a number;
 * a decimal a string with all its digits ("12.50"); a timestamp microseconds since 1970, a number,
 * or a bigint beyond 2^53.
 */
export type Value = string | number | bigint | boolean | null;

/** A row that did not change between two snapshots is the same object in both. */
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

/** Which rows and columns of a table, in which order. What is left out: all, as the table has it. */
export interface Query {
  readonly columns?: readonly string[];
  readonly filter?: Filter;
  readonly search?: string;
  readonly order?: readonly OrderBy[];
}

/** Which rows of the result. A negative offset counts from the end, and moves with it. */
export interface Place {
  readonly offset: number;
  readonly limit: number;
}

export type TableOptions = Query & Partial<Place>;

/** A window as it was at one moment. Never changed: the next state is another snapshot. */
export interface Snapshot {
  readonly table: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  /** Rows in the whole view. */
  readonly total: number;
  /** How many rows of the view are above the first one here; never negative. */
  readonly offset: number;
  /** What was asked for: frames of an earlier place may come after a move. */
  readonly place: Place;
  /** 0 for tables that belong to none. */
  readonly generation: number;
  /** When the gateway took it, milliseconds since 1970. */
  readonly time: number;
}

/**
 * - `connecting`: nothing has come yet
 * - `waiting`: there is no such table now, or with a `code` none that could answer this question;
 *   the window comes alive when there is
 * - `loading`: the gateway reads the table; `done` of `total` changes
 * - `live`: what is shown is what there is
 * - `stale`: the gateway is there, but cannot know what there is; `since` is when it last did
 * - `reconnecting`: the gateway cannot be reached since `since`; what is shown is old
 * - `refused`: the gateway said no (`code`), and trying again does not help
 * - `closed`: disposed of
 */
export type TableState =
  'connecting' | 'waiting' | 'loading' | 'live' | 'stale' | 'reconnecting' | 'refused' | 'closed';

export interface TableStatus {
  readonly state: TableState;
  /** A sentence for people, never empty. */
  readonly message: string;
  /** Whether rows that are live may not be all there are: the message says which and why. */
  readonly warning?: boolean;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly done?: number;
  readonly total?: number;
  /** The gateway's code for what is wrong, as in the protocol. */
  readonly code?: string;
}

/** One look at a window of a table. Handles that ask for the same share what is behind them. */
export interface TableSubscription {
  readonly table: string;
  /** Of the newest snapshot; empty before the first. */
  readonly rows: readonly Row[];
  readonly snapshot: Snapshot | undefined;
  readonly status: TableStatus;
  /** Tells every new snapshot, the present one at once. Gives back what ends that. */
  onRows(listener: (snapshot: Snapshot) => void): () => void;
  /** Tells every new status, the present one at once. Gives back what ends that. */
  onStatus(listener: (status: TableStatus) => void): () => void;
  /** Looks at other rows of the same result. */
  move(place: Partial<Place>): void;
  /** Asks another question; the rows so far stay until the answer comes. */
  change(query: Query, place?: Partial<Place>): void;
  dispose(): void;
}

/**
 * - `connecting`, `open`
 * - `waiting`: lost, tries again at `retryAt`
 * - `refused`: no use trying again: a wrong key, say (`code`)
 * - `closed`: by `close()`
 */
export type ConnectionPhase = 'connecting' | 'open' | 'waiting' | 'refused' | 'closed';

export interface ConnectionStatus {
  readonly phase: ConnectionPhase;
  readonly message: string;
  readonly code?: string;
  /** When the connection was lost, and when it will be tried again: milliseconds since 1970. */
  readonly since?: number;
  readonly retryAt?: number;
  /** Who we are to the gateway, once it said so. */
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

/** A table as `/api/tables` tells of it; the gateway's HTTP documentation says what fields mean. */
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
 * `field` is the word that a message names it with, `topic` and `type` what runs now.
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

/** `{ usersTopic: 'users_v2', joinType: 'left' }`; what is not named stays as it is. */
export type ControlMessage = Readonly<Record<string, string>>;

/** Where a control message is on its topic; its verdict is the row of `control_raw` with these. */
export interface ControlPlace {
  readonly partition: number;
  readonly offset: number;
}

/** Changes the pipeline, for keys that may; others are refused with `no_rights`. */
export interface Control {
  choices(signal?: AbortSignal): Promise<ControlChoices>;
  /** Resolves once the message is on the control topic; what becomes of it is said later. */
  ask(message: ControlMessage, signal?: AbortSignal): Promise<ControlPlace>;
}

export type ExportFormat = 'csv' | 'arrow' | 'json' | 'ndjson';

export interface ClientOptions {
  /** Where the gateway is: "https://grid.example.com". The page's own origin when left out. */
  readonly url?: string;
  readonly key: string;
}

/** One connection to a gateway, for as many tables as a page likes. */
export interface Client {
  readonly url: string;
  readonly status: ConnectionStatus;
  onStatus(listener: (status: ConnectionStatus) => void): () => void;
  /** Resolves with the first welcome, rejects with an EvergridError if the gateway refuses us. */
  login(): Promise<Login>;
  subscribe(table: string, options?: TableOptions): TableSubscription;
  /** GET from the gateway with our key; rejects with an EvergridError that has its sentence. */
  get(path: string, signal?: AbortSignal): Promise<Response>;
  /** The tables that our key may read. */
  tables(signal?: AbortSignal): Promise<readonly TableInfo[]>;
  /** All rows of a query (or those of a place) as a file. CSV is made safe for spreadsheets. */
  download(
    table: string,
    options: TableOptions & { readonly format: ExportFormat },
    signal?: AbortSignal,
  ): Promise<Blob>;
  /** Changes the pipeline behind the tables. */
  readonly control: Control;
  /** Tries at once instead of at `retryAt`; after a refusal too. */
  retry(): void;
  close(): void;
}
