/** The repository that users hold: it only wires and delegates. */

import { getOrMake } from "../base/collections.ts";
import { DatabaseError } from "../base/errors.ts";
import { IdSource } from "../schema/names.ts";
import type { Decision } from "../schema/rule_types.ts";
import type { CreateInput, Schema, UpdateInput } from "../schema/schema.ts";
import { type BareParts, BareRepository } from "./bare_repository.ts";
import { Collection } from "./collection.ts";
import { Editor } from "./editor.ts";
import { Engines, type QueryHooks } from "./engines.ts";
import {
  type CommitSummary,
  type HistoryOptions,
  repositoryHistory,
} from "./history.ts";
import { inside, type OpenRepository } from "./internals.ts";
import type { LocalFile } from "./local_file.ts";
import type { OverwrittenSource } from "./overwritten.ts";
import type { OverwrittenReader } from "./overwritten_reader.ts";
import { ReadableCollection } from "./readable_collection.ts";
import type { Schemas } from "./schemas.ts";
import { openSnapshot, type Snapshot } from "./snapshot.ts";
import {
  describeTable,
  schemaOfStored,
  type StoredCollection,
} from "./stored.ts";
import { TransactionScope } from "./transaction_scope.ts";
import { RepositoryUndo, type Undo } from "./undo.ts";
import { Write } from "./write.ts";

/** No promise: what is awaited in a transaction would not be in it. */
export type Synchronous<R> = 0 extends 1 & R ? unknown
  : [Extract<R, PromiseLike<unknown>>] extends [never] ? unknown
  : "The callback of a transaction must be synchronous: await first";

export interface RepositoryParts extends BareParts {
  readonly schemas: Schemas;
  readonly hooks: QueryHooks;
  /** Keeps what can be undone over a reload. */
  readonly undoFile?: LocalFile | undefined;
  /** Keeps own edits that lost until they are taken, where the files are here. */
  readonly overwrittenFile?: LocalFile | undefined;
  /** Where they are kept, when that is not here. */
  readonly overwritten?: OverwrittenSource | undefined;
}

/** One set of collections with one log and one history. */
export class Repository extends BareRepository {
  readonly #parts: RepositoryParts;
  readonly #engines: Engines;
  readonly #ids: IdSource;
  readonly #editors = new Map<string, Editor<Schema>>();
  readonly #collections = new Map<string, Collection<Schema>>();
  #undo: RepositoryUndo | undefined;
  #overwritten: Promise<OverwrittenReader> | undefined;

  /** Use `database.repository(name)`. */
  constructor(parts: RepositoryParts) {
    super(parts);
    const { replica, schemas, world, hooks } = parts;
    this.#parts = parts;
    this.#ids = new IdSource(world);
    this.#engines = new Engines(() => replica.state, world, schemas, hooks);
    replica.publishing = (tell) => this.#engines.publish(tell);
  }

  /** @internal */
  override get [inside](): OpenRepository {
    const { replica, world, link: arrivals } = this.#parts;
    const saveUndo = () => void this.#undo?.save();
    const engines = this.#engines;
    return { repository: this, replica, engines, world, arrivals, saveUndo };
  }

  /**
   * The items of a schema.
   *
   * @throws {DatabaseError} `unknown-collection` when the schema was not given
   * to `openDatabase()`, `closed`
   */
  collection<S extends Schema>(schema: S): Collection<S> {
    const { replica, schemas, link } = this.#parts;
    replica.check();
    schemas.check(schema);
    const collection = getOrMake(
      this.#collections,
      schema.name,
      () =>
        new Collection<Schema>({
          schema,
          replica,
          table: replica.state.table(schema.name),
          engine: this.#engines.of(schema),
          editor: this.#editorOf(schema),
          arrivals: link,
          overwritten: () => this.#overwritten ??= this.#readOverwritten(),
          check: replica.check,
        }),
    );
    // `schemas.check` proved that the schema of this name is this very object.
    return collection as unknown as Collection<S>;
  }

  async #readOverwritten(): Promise<OverwrittenReader> {
    const { OverwrittenReader } = await import("./overwritten_reader.ts");
    return await OverwrittenReader.open(this.#parts);
  }

  #editorOf<S extends Schema>(schema: S): Editor<S> {
    const { replica, schemas } = this.#parts;
    schemas.check(schema);
    const editor = getOrMake(this.#editors, schema.name, () => {
      const table = replica.state.table(schema.name);
      return new Editor<Schema>(schema, table, this.#ids);
    });
    return editor as unknown as Editor<S>; // As in `collection`.
  }

  /**
   * Runs one atomic transaction: all of its writes become one commit, or none
   * when the callback throws. The callback must be synchronous.
   *
   * @throws {DatabaseError} what the writes inside throw, `invalid-option` for
   * an asynchronous callback or a transaction inside a transaction, `closed`
   */
  transact<R>(
    callback: ((tx: TransactionScope) => R) & Synchronous<R>,
  ): Write<R> {
    const { replica, link } = this.#parts;
    if (typeof callback !== "function") {
      throw new DatabaseError(
        "invalid-option",
        "transact() takes a function, which is given the transaction",
      );
    }
    const done = replica.transact((transaction) =>
      callback(
        new TransactionScope(
          transaction,
          (schema) => this.#editorOf(schema),
          replica,
        ),
      )
    );
    return new Write(done.result, done, link);
  }

  /**
   * Undo and redo of what is written here, from when it is first asked for; what
   * could be undone before a reload can be undone after it.
   *
   * @throws {DatabaseError} `closed`
   */
  get undo(): Undo {
    if (this.#undo !== undefined) return this.#undo;
    const { replica, schemas, world, link, hooks, undoFile } = this.#parts;
    replica.check();
    return this.#undo = new RepositoryUndo({
      replica,
      schemas,
      ids: this.#ids,
      arrivals: link,
      world,
      file: undoFile,
      report: hooks.onError,
    });
  }

  /** May an item be created so? As {@linkcode can} with "delete". */
  can<S extends Schema>(
    action: "create",
    schema: S,
    input: CreateInput<S>,
  ): Decision;
  /** May an item be changed so? As {@linkcode can} with "delete". */
  can<S extends Schema>(
    action: "update",
    schema: S,
    id: string,
    changes: UpdateInput<S>,
  ): Decision;
  /**
   * May an item be deleted? The answer of the rules that this database was
   * opened with, without writing; a server's rules have the last word.
   *
   * @throws {DatabaseError} what the write itself would throw, but for `denied`
   */
  can<S extends Schema>(action: "delete", schema: S, id: string): Decision;
  can<S extends Schema>(
    action: "create" | "update" | "delete",
    schema: S,
    target: CreateInput<S> | string,
    changes?: UpdateInput<S>,
  ): Decision {
    const editor = this.#editorOf(schema);
    return this.#parts.replica.preview((tx) => {
      if (action === "create") editor.create(tx, target as CreateInput<S>);
      else if (action === "delete") editor.delete(tx, target as string);
      else editor.update(tx, target as string, changes as UpdateInput<S>);
    });
  }

  /** Calls after every transaction that changed something here; the result ends it. */
  subscribe(listener: () => void): () => void {
    this.#parts.replica.check();
    return this.#engines.changes.add(listener);
  }

  /** The newest commits, oldest first. */
  history(options?: HistoryOptions): CommitSummary[] {
    this.#parts.replica.check();
    this.#parts.replica.flush();
    return repositoryHistory(this.#parts.replica, options);
  }

  /**
   * The repository as it was: after a commit and all its ancestors, or at a
   * moment. Read-only.
   *
   * @throws {DatabaseError} `commit-missing`, `invalid-option`, `closed`
   */
  at(point: string | Date): Snapshot {
    const { replica, schemas, world } = this.#parts;
    replica.check();
    replica.flush();
    return openSnapshot(replica, schemas, world, point);
  }

  /** The collections that are stored, whether a schema was declared for them or not. */
  collections(): StoredCollection[] {
    const { replica } = this.#parts;
    replica.check();
    const tables = replica.state.tables().filter((table) => table.size > 0);
    return tables.map(describeTable).sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /**
   * A stored collection to read, without its schema.
   *
   * @throws {DatabaseError} `unknown-collection`, `closed`
   */
  storedCollection(name: string): ReadableCollection<Schema> {
    const { replica, schemas } = this.#parts;
    replica.check();
    const table = replica.state.find(name);
    if (table === undefined) {
      throw new DatabaseError(
        "unknown-collection",
        `Nothing is stored under ${JSON.stringify(name)}`,
      );
    }
    const schema = schemas.find(name) ?? schemaOfStored(describeTable(table));
    const engine = this.#engines.of(schema);
    return new ReadableCollection({
      schema,
      table,
      engine,
      check: replica.check,
    });
  }

  protected override async leaving(): Promise<void> {
    await this.#undo?.save();
    // Where it could not be loaded, nobody was told anything.
    await (await this.#overwritten?.catch(() => undefined))?.close();
  }

  protected override left(): void {
    this.#engines.dispose();
  }
}
