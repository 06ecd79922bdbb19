/**
 * The database: a folder of repositories, its lock and its keys.
 *
 * It wires and delegates: storage below, replicas in `repo/`, collections
 * beside it. No policy lives here.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { system } from "../base/system.ts";
import type { World } from "../base/world.ts";
import type { Storage, StorageUsage } from "../storage/storage.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import {
  listReplicas,
  type Mode,
  parseRepositoryName,
  Replica,
  type RepositoryName,
} from "../../repo/mod.ts";
import {
  type Connection,
  type ConnectOptions,
  DatabaseConnection,
} from "./connect.ts";
import { noteInternals } from "./internals.ts";
import { type Keyring, openKeyring } from "./keyring.ts";
import {
  type DatabaseOptions,
  hooksOf,
  parseMode,
  parseRootKey,
  parseUser,
  storageOf,
} from "./options.ts";
import { Repository } from "./repository.ts";
import { RepositoryLink } from "./repository_link.ts";
import { Schemas } from "./schemas.ts";
import { SessionKeeper } from "./session_keeper.ts";

export type { DatabaseOptions } from "./options.ts";

/** What a database says of its medium. */
export interface StorageStatus extends StorageUsage {
  /** Bytes of logs and checkpoints, over all open repositories. */
  readonly usedBytes: number;
  /** Bytes that are visible and not yet durable, over all open repositories. */
  readonly unsyncedBytes: number;
  /** Names of the repositories that are open. */
  readonly open: readonly string[];
}

/** The medium of a database. */
export interface DatabaseStorage {
  /** Backend, whether it outlives the process, quota where known, and bytes. */
  status(): StorageStatus;
}

/**
 * Opens a database folder, or makes it.
 *
 * @example
 * ```ts
 * import { defineSchema, field, memoryStorage, openDatabase } from "@sheaf/sheaf";
 *
 * const Note = defineSchema("note", { text: field.string() });
 * await using db = await openDatabase({ storage: memoryStorage(), schemas: [Note] });
 * const notes = (await db.repository("me")).collection(Note);
 * await notes.create({ text: "hello" });
 * ```
 *
 * @throws {DatabaseError} `database-locked` when another process has it open,
 * `invalid-path`, `permission-denied`, `format-too-new`, `root-key-mismatch`,
 * `invalid-option`, `invalid-schema`
 */
export async function openDatabase(
  options: DatabaseOptions,
): Promise<Database> {
  const mode = parseMode(options.mode ?? "default");
  const user = parseUser(options.user ?? "local");
  const schemas = new Schemas(options.schemas ?? []);
  const rootKey = options.rootKey === undefined
    ? undefined
    : parseRootKey(options.rootKey);
  const storage = storageOf(options);
  const world = options.world ?? system;
  const unlock = storage.lock();
  try {
    const keyring = await openKeyring(storage, world, {
      user,
      rootKey,
      rootSecret: options.rootSecret,
      mayIssue: options.mayIssue,
    });
    return new Database({
      options,
      mode,
      schemas,
      storage,
      world,
      keyring,
      unlock,
    });
  } catch (cause) {
    unlock();
    throw cause;
  }
}

interface Parts {
  readonly options: DatabaseOptions;
  readonly mode: Mode;
  readonly schemas: Schemas;
  readonly storage: Storage;
  readonly world: World;
  readonly keyring: Keyring;
  readonly unlock: () => void;
}

/** An open database. Close it, or let `await using` do so. */
export class Database implements AsyncDisposable {
  readonly #parts: Parts;
  readonly #repositories = new Map<RepositoryName, Promise<Repository>>();
  readonly #open = new Map<RepositoryName, Repository>();
  /** Repositories that are being closed; they are opened again only afterwards. */
  readonly #closings = new Map<RepositoryName, Promise<void>>();
  readonly #links = new Set<RepositoryLink>();
  readonly #keeper: SessionKeeper;
  #connection: DatabaseConnection | undefined;
  #closing: Promise<void> | undefined;

  /** Use {@linkcode openDatabase}. */
  constructor(parts: Parts) {
    const { keyring, world } = parts;
    this.#parts = parts;
    this.#keeper = new SessionKeeper({
      keyring,
      world,
      replicas: () => this.#links.values().map((link) => link.replica),
    });
    noteInternals(this, parts);
  }

  /** The default mode of new repositories. */
  get mode(): Mode {
    return this.#parts.mode;
  }

  /** The root public key, 32 bytes: who may certify sessions here. */
  get rootKey(): Uint8Array {
    return this.#parts.keyring.rootKey.slice();
  }

  /** Who writes here, for the history: what the certificate says, once there is one. */
  get user(): string {
    return this.#keeper.user;
  }

  /** The public key that signs what is written here, 32 bytes. */
  get sessionKey(): Uint8Array {
    return this.#keeper.sessionKey;
  }

  /** The connection, from {@linkcode connect} until it is closed. */
  get connection(): Connection | undefined {
    return this.#connection;
  }

  /**
   * Connects to a server, and keeps coming back until the connection is closed.
   * All repositories that are open, or are opened later, ride on it. It
   * returns at once: what becomes of it is in `connection.status` and in each
   * `repository.sync.status`.
   *
   * @param target `ws:`, `wss:`, `http:` or `https:` address, or a connector
   * @throws {DatabaseError} `already-connected`, `invalid-option`, `closed`
   */
  connect(
    target: string | URL | Connector,
    options: ConnectOptions = {},
  ): Connection {
    if (this.#closing !== undefined) throw closedError();
    if (this.#connection !== undefined) {
      throw new DatabaseError(
        "already-connected",
        `The database is connected to ${this.#connection.address}: close that connection first`,
      );
    }
    const { world, keyring, options: { onListenerError } } = this.#parts;
    return this.#connection = new DatabaseConnection({
      target,
      options,
      world,
      rootKey: keyring.rootKey,
      keeper: this.#keeper,
      links: () => this.#links,
      ended: () => this.#connection = undefined,
      ...(onListenerError !== undefined && { report: onListenerError }),
    });
  }

  /**
   * Opens a repository, or makes it. The same name gives the same object
   * until it is closed.
   *
   * @param name 1 to 8 segments of `[A-Za-z0-9_-]{1,64}` joined by `/`
   * @throws {DatabaseError} `invalid-name`, `mode-mismatch`,
   * `root-key-mismatch`, `log-damaged`, `closed`, or a code of the storage
   */
  repository(name: string): Promise<Repository> {
    if (this.#closing !== undefined) return Promise.reject(closedError());
    let key: RepositoryName;
    try {
      key = parseRepositoryName(name);
    } catch (cause) {
      return Promise.reject(cause);
    }
    let opening = this.#repositories.get(key);
    if (opening === undefined) {
      opening = this.#openRepository(key);
      this.#repositories.set(key, opening);
      opening.catch(() => this.#repositories.delete(key));
    }
    return opening;
  }

  async #openRepository(name: RepositoryName): Promise<Repository> {
    const { options, mode, schemas, storage, world, keyring } = this.#parts;
    await this.#closings.get(name);
    const { session } = this.#keeper;
    const replica = await Replica.open({
      storage,
      world,
      name,
      mode,
      isModeRequired: options.mode !== undefined,
      rootKey: keyring.rootKey,
      session,
      isOriginal: keyring.isOriginal,
      viewOf: (collection) => schemas.viewOf(collection),
      repair: options.repair ?? false,
      settle: keyring.settle,
      ...(options.rules !== undefined && { rules: options.rules }),
    });
    // A login may have come in between.
    if (this.#keeper.session !== session) {
      replica.useSession(this.#keeper.session);
    }
    const link = this.#link(replica);
    const repository = new Repository({
      replica,
      schemas,
      world,
      hooks: hooksOf(options),
      link,
      closing: (done) => this.#repositoryCloses(name, done),
    });
    this.#open.set(name, repository);
    this.#connection?.join(link);
    return repository;
  }

  #link(replica: Replica): RepositoryLink {
    const { storage, world, options: { onListenerError } } = this.#parts;
    const link = new RepositoryLink({
      replica: replica,
      storage,
      world,
      leaving: (link) => {
        this.#links.delete(link);
        this.#connection?.leave(link);
      },
      ...(onListenerError !== undefined && { report: onListenerError }),
    });
    this.#links.add(link);
    return link;
  }

  #repositoryCloses(name: RepositoryName, done: Promise<void>): void {
    this.#repositories.delete(name);
    this.#open.delete(name);
    const gone = done.catch(() => {}).then(() => {
      this.#closings.delete(name);
    });
    this.#closings.set(name, gone);
  }

  /** Names of all repositories in the folder, sorted. */
  repositories(): string[] {
    return listReplicas(this.#parts.storage);
  }

  /** The medium that the data lies on. */
  get storage(): DatabaseStorage {
    return { status: () => this.#storageStatus() };
  }

  #storageStatus(): StorageStatus {
    let [usedBytes, unsyncedBytes] = [0, 0];
    for (const repository of this.#open.values()) {
      const status = repository.status();
      usedBytes += status.logBytes + status.checkpointBytes;
      unsyncedBytes += status.unsyncedBytes;
    }
    const open = [...this.#open.keys()].sort();
    return { ...this.#parts.storage.usage(), usedBytes, unsyncedBytes, open };
  }

  /** Makes everything durable, closes all repositories and gives the lock back. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#connection?.close();
    const opening = await Promise.allSettled(this.#repositories.values());
    const closings = opening.map((result) =>
      result.status === "fulfilled" ? result.value.close() : undefined
    );
    const results = await Promise.allSettled([
      ...closings,
      ...this.#closings.values(),
      this.#settle(),
      this.#keeper.settled(),
    ]);
    this.#parts.unlock();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** A new database without repositories is durable when it is closed. */
  async #settle(): Promise<void> {
    const { keyring, storage } = this.#parts;
    if (!keyring.isNew) return;
    await keyring.settle();
    storage.syncFolder("");
  }

  /** As {@linkcode close}. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

function closedError(): DatabaseError {
  return new DatabaseError("closed", "The database is closed: open it again");
}
