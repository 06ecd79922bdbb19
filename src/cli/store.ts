/**
 * What the command line asks of a database, and the data it passes around.
 *
 * The one file that knows the real names behind this is `database.ts`.
 *
 * @module
 */

import type { FieldKind, Item, Value } from "../schema/patch.ts";
import type { Rules } from "../schema/rules.ts";

export type { FieldKind, Item, Value };

/** A field as the command line knows it: enough to read and print its values. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** May be missing. */
  readonly optional: boolean;
  /** Kind of the elements of a set, map or list, where it is known. */
  readonly element?: FieldKind;
  /** Words of an enum, where they are known. */
  readonly options?: readonly string[];
}

/** A collection as the repository stores it. */
export interface StoredCollection {
  readonly name: string;
  readonly fields: readonly Field[];
  readonly count: number;
}

/** A schema at hand: inferred, stored, or loaded from a module. */
export interface Schema {
  /** The collection's name. */
  readonly name: string;
  readonly fields: readonly Field[];
  /** The key-value store whose entries its items are; `""` is the one without a name. */
  readonly store?: string;
  /** The schema object itself; only `database.ts` looks inside. */
  readonly handle: object;
}

/** Field values of one item to write, with its id where it has one. */
export interface Draft {
  readonly id: string | undefined;
  readonly values: { readonly [field: string]: Value };
}

/** The two ways to sort. */
export type Direction = "asc" | "desc";

/** A query as it was asked on the command line. */
export interface QueryRequest {
  readonly where: { readonly [key: string]: Value } | undefined;
  readonly orderBy: readonly (readonly [string, Direction])[];
  readonly limit: number | undefined;
}

/** How a query would be answered. */
export type Plan = Readonly<Record<string, unknown>>;

/** Items to read, by query or one after the other. */
export interface ReadableCollection {
  readonly name: string;
  readonly fields: readonly Field[];
  count(): number;
  keys(): Iterable<string>;
  items(): Iterable<Item>;
  query(request: QueryRequest): readonly Item[];
  queryCount(request: QueryRequest): number;
  explain(request: QueryRequest): Plan;
  history(id: string): Promise<readonly HistoryEntry[]>;
}

/** One transaction of an import. */
export interface ImportTransaction {
  has(id: string): boolean;
  create(draft: Draft): void;
  /** Puts the draft in the place of the item with its id. */
  replace(draft: Draft): void;
}

/** One commit as a person reads it. */
export interface HistoryEntry {
  readonly commit: string;
  readonly at: Date;
  readonly user: string;
  /** What it did, one short line each. */
  readonly changes: readonly string[];
}

/** What a repository says of itself. */
export interface RepositoryStatus {
  readonly commits: number;
  readonly chains: number;
  readonly heads: number;
  readonly logBytes: number;
  readonly checkpointBytes: number;
  /** What recovery found when the repository was opened. */
  readonly recovery: object;
}

/** What a full verification found. */
export interface Verification {
  readonly ok: boolean;
  readonly commits: number;
  readonly signatures: number;
  readonly bytes: number;
  /** The first bad byte and what is wrong there, when something is. */
  readonly damage:
    | { readonly address: number; readonly reason: string }
    | undefined;
}

/** A commit that rules would have refused. */
export interface AuditFinding {
  /** Its name, as `history` shows it. */
  readonly commit: string;
  readonly at: Date;
  readonly user: string;
  readonly rule: string;
  readonly reason: string;
  /** Did it come back after a loss, so that no rule was asked then? */
  readonly isRestored: boolean;
}

/** How much of a repository rules were asked about. */
export interface AuditReport {
  readonly commits: number;
  /** Commits of sessions that no rule is asked about. */
  readonly unjudged: number;
  readonly findings: number;
}

/** The public keys of this replica. */
export interface Identity {
  /** The public half of the key that certifies sessions. */
  readonly rootKey: Uint8Array;
  /** The public half of the key that signs here. */
  readonly sessionKey: Uint8Array;
  /** Whom that session is certified for. */
  readonly user: string;
}

/** An open repository. */
export interface Repository {
  readonly name: string;
  readonly mode: string;
  status(): RepositoryStatus;
  /** How many commits no server is known to have. */
  readonly unsent: number;
  collections(): readonly StoredCollection[];
  collection(name: string): ReadableCollection;
  history(limit: number | undefined): Promise<readonly HistoryEntry[]>;
  /** Runs `work` as one atomic transaction and waits until it is durable. */
  write(schema: Schema, work: (tx: ImportTransaction) => void): Promise<void>;
  verify(
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<Verification>;
  /** Asks rules about everything that was accepted, in its order. */
  audit(
    rules: Rules,
    found: (finding: AuditFinding) => void,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<AuditReport>;
}

/** An open database. */
export interface Database {
  readonly mode: string;
  readonly identity: Identity;
  repositories(): Promise<readonly string[]>;
  repository(name: string): Promise<Repository>;
  /** Deletes it, also what no server has. */
  deleteRepository(name: string): Promise<void>;
  close(): Promise<void>;
}

/** How a database is opened. */
export interface OpenRequest {
  /** The folder; `undefined` opens an empty one in memory. */
  readonly path: string | undefined;
  /** Mode of repositories that are created; `undefined` takes the default. */
  readonly mode: string | undefined;
  /** Schemas that will be written to. */
  readonly schemas: readonly Schema[];
  /** Is nothing written, so that a medium will do that cannot be? */
  readonly isRead?: boolean;
}

/** The functions of `database.ts`, handed to commands. */
export interface Engine {
  open(request: OpenRequest): Promise<Database>;
  /** Is there a database in the folder? */
  exists(path: string): boolean;
  /** Makes a schema of field descriptions. */
  defineSchema(name: string, fields: readonly Field[]): Promise<Schema>;
  /** The schema of a key-value store's entries; `undefined` when the collection is none. */
  storeSchema(collection: string): Schema | undefined;
  /** The schema that a module exported, or `undefined` when it is none. */
  asSchema(exported: unknown): Schema | undefined;
}
