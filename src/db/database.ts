/**
 * The database: a folder of repositories, its lock and its keys.
 *
 * It wires and delegates: storage below, replicas in `repo/`, collections
 * beside it. No policy lives here.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { system } from "../base/system.ts";
import type { World } from "../base/world.ts";
import type { Schema } from "../schema/schema.ts";
import { denoStorage } from "../storage/deno_storage.ts";
import type { Storage, StorageUsage } from "../storage/storage.ts";
import {
  decodeCertificate,
  listReplicas,
  type Mode,
  parseRepositoryName,
  Replica,
  type RepositoryName,
} from "../../repo/mod.ts";
import type { QueryHooks } from "./engines.ts";
import { type Keyring, openKeyring } from "./keyring.ts";
import { Repository } from "./repository.ts";
import { Schemas } from "./schemas.ts";

/** How a database is opened. */
export interface DatabaseOptions {
  /** The folder on disk (Deno). Either this or `storage`. */
  readonly path?: string;
  /** Any other medium: `memoryStorage()`, or one of your own. */
  readonly storage?: Storage;
  /**
   * How new repositories are signed and made durable (default: "default"). When
   * given, repositories that are there must have this mode.
   */
  readonly mode?: Mode;
  /** The collections of this app. */
  readonly schemas?: readonly Schema[];
  /** Who writes here, for the history (default: "local"). */
  readonly user?: string;
  /** The root public key that the folder must belong to, 32 bytes. */
  readonly rootKey?: Uint8Array;
  /** Set damaged log bytes aside and open what is left, instead of failing. */
  readonly repair?: boolean;
  /** Hears hints on slow queries; silent when absent. */
  readonly onSlowQuery?: (hint: string) => void;
  /**
   * Hears what a listener or predicate of a live query throws. When absent it is
   * reported like any uncaught error, which in Deno ends the program.
   */
  readonly onListenerError?: (error: unknown) => void;
  /** Clock, dice and timers; the real ones when absent. */
  readonly world?: World;
}

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
  const storage = storageOf(options);
  const world = options.world ?? system;
  const unlock = storage.lock();
  try {
    const keyring = await openKeyring(storage, world, {
      user,
      ...(options.rootKey !== undefined && { rootKey: options.rootKey }),
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

function storageOf({ path, storage }: DatabaseOptions): Storage {
  if ((path === undefined) === (storage === undefined)) {
    throw new DatabaseError(
      "invalid-option",
      "Give openDatabase() either `path` or `storage`",
    );
  }
  if (storage !== undefined) return storage;
  if (typeof path !== "string" || path === "" || path.includes("\0")) {
    throw new DatabaseError("invalid-path", "`path` must name a folder");
  }
  return denoStorage(path);
}

function parseMode(mode: unknown): Mode {
  if (mode === "default" || mode === "trusted" || mode === "fast") return mode;
  throw new DatabaseError(
    "invalid-option",
    `\`mode\` must be "default", "trusted" or "fast", not ${
      JSON.stringify(mode)
    }`,
  );
}

function parseUser(user: unknown): string {
  const fits = typeof user === "string" && user !== "" && user.isWellFormed() &&
    user.length * 3 <= limits.userBytesMax;
  if (fits) return user;
  throw new DatabaseError(
    "invalid-option",
    `\`user\` must be a string of 1 to ${
      Math.floor(limits.userBytesMax / 3)
    } characters`,
  );
}

function hooksOf(options: DatabaseOptions): QueryHooks {
  const { onSlowQuery, onListenerError } = options;
  return {
    ...(onSlowQuery !== undefined && { onSlow: onSlowQuery }),
    ...(onListenerError !== undefined && { onError: onListenerError }),
  };
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
  #closing: Promise<void> | undefined;

  /** Use {@linkcode openDatabase}. */
  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The default mode of new repositories. */
  get mode(): Mode {
    return this.#parts.mode;
  }

  /** The root public key, 32 bytes: who may certify sessions here. */
  get rootKey(): Uint8Array {
    return this.#parts.keyring.rootKey.slice();
  }

  /** Who writes here, for the history. */
  get user(): string {
    return this.#parts.keyring.session.user;
  }

  /** The public key that signs what is written here, 32 bytes. */
  get sessionKey(): Uint8Array {
    return decodeCertificate(this.#parts.keyring.session.certificate).sessionKey
      .slice();
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
    const replica = await Replica.open({
      storage,
      world,
      name,
      mode,
      isModeRequired: options.mode !== undefined,
      rootKey: keyring.rootKey,
      session: keyring.session,
      isOriginal: keyring.isOriginal,
      viewOf: (collection) => schemas.viewOf(collection),
      repair: options.repair ?? false,
      settle: keyring.settle,
    });
    const closing = (done: Promise<void>) => {
      this.#repositories.delete(name);
      this.#open.delete(name);
      const gone = done.catch(() => {}).then(() => {
        this.#closings.delete(name);
      });
      this.#closings.set(name, gone);
    };
    const repository = new Repository({
      replica,
      schemas,
      world,
      hooks: hooksOf(options),
      closing,
    });
    this.#open.set(name, repository);
    return repository;
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
    const opening = await Promise.allSettled(this.#repositories.values());
    const closings = opening.map((result) =>
      result.status === "fulfilled" ? result.value.close() : undefined
    );
    const results = await Promise.allSettled([
      ...closings,
      ...this.#closings.values(),
      this.#settle(),
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
