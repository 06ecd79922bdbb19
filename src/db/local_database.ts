/**
 * The database: a folder of repositories, its lock and its keys.
 *
 * It wires and delegates: storage below, replicas in `repo/`, collections
 * beside it. No policy lives here.
 */

import { checkOptions, refuseOptions } from "../base/known_options.ts";
import { FollowingWorld } from "../base/server_clock.ts";
import { system } from "../base/system.ts";
import type { World } from "../base/world.ts";
import type { Storage } from "../storage/storage.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import {
  deletionsIn,
  type Door,
  hasReplica,
  lateRefusing,
  listReplicas,
  lookForReplicas,
  type Mode,
  parseRepositoryName,
  Replica,
  replicaFolder,
  type RepositoryName,
  type Session,
} from "../../repo/mod.ts";
import type { BareRepository } from "./bare_repository.ts";
import {
  type Connection,
  type ConnectOptions,
  DatabaseConnection,
} from "./connect.ts";
import {
  type DatabaseInternals,
  type FrameTap,
  inside,
  openedOf,
  type Tap,
} from "./internals.ts";
import {
  closedError,
  connectedError,
  type Database,
  type DatabaseTabs,
  type DeleteOptions,
  noTabs,
  readOnlyError,
} from "./face.ts";
import { type Keyring, openKeyring } from "./keyring.ts";
import { localFileOf, overwrittenFile, undoFile } from "./local_file.ts";
import {
  checkRules,
  checkSalt,
  connectOptions,
  hooksOf,
  type OwnerOptions,
  parseMode,
  parseRootKey,
  parseUser,
} from "./options.ts";
import type { RepositoryParts } from "./repository.ts";
import { RepositoryLink } from "./repository_link.ts";
import { Schemas } from "./schemas.ts";
import { keysMended, Scrubbing } from "./scrubbing.ts";
import { StorageObserver, type StorageStatus } from "./storage_status.ts";
import { UnfitFields } from "./unfit_fields.ts";

export type FilesOptions = OwnerOptions & { readonly storage: Storage };

export type DatabaseOf<R> = Omit<Database, "repository"> & {
  repository(name: string): Promise<R>;
};

/** How much of its repositories a database loads. */
export interface Kind<R> {
  readonly make: (parts: RepositoryParts) => R;
  /** Where records of others come in. */
  readonly door: Door;
}

/** Opens a database of a kind whose files are here. */
export async function openFilesAs<R extends BareRepository>(
  kind: Kind<R>,
  options: FilesOptions,
): Promise<DatabaseOf<R>> {
  const mode = parseMode(options.mode ?? "default");
  const user = parseUser(options.user ?? "local");
  checkRules(options.rules);
  checkSalt(options.salt);
  const schemas = new Schemas(options.schemas ?? [], options.textEngine);
  const rootKey = options.rootKey === undefined
    ? undefined
    : parseRootKey(options.rootKey);
  const { storage } = options;
  const world = options.world ?? system;
  const unlock = storage.lock();
  try {
    if (deletionsIn(storage).length > 0) await endDeletions(options);
    const names = storage.prepare && await lookForReplicas(storage);
    const keyring = await openKeyring(storage, world, {
      user,
      rootKey,
      rootSecret: options.rootSecret,
      mayIssue: options.mayIssue,
      vault: options.vault,
      lostSession: options.lostSession,
    });
    return new LocalDatabase({
      ...kind,
      options,
      mode,
      schemas,
      storage,
      world,
      keyring,
      unlock,
      names,
    });
  } catch (cause) {
    unlock();
    throw cause;
  }
}

/** Ends the deletions that were begun and did not end. */
async function endDeletions(
  { storage, isOwner = false }: FilesOptions,
): Promise<void> {
  const { finishDeletions } = await import("./deletion.ts");
  await finishDeletions(storage, isOwner);
}

interface Parts<R> extends Kind<R> {
  readonly options: FilesOptions;
  readonly mode: Mode;
  readonly schemas: Schemas;
  readonly storage: Storage;
  readonly world: World;
  readonly keyring: Keyring;
  readonly unlock: () => void;
  /** Names of all repositories, where looking for them takes time. */
  readonly names: readonly string[] | undefined;
}

class LocalDatabase<R extends BareRepository> implements DatabaseOf<R> {
  readonly storage: StorageObserver;
  readonly tabs: DatabaseTabs = noTabs;
  readonly #parts: Parts<R>;
  /** What dates commits. */
  readonly #clock: FollowingWorld;
  readonly #repositories = new Map<RepositoryName, Promise<R>>();
  readonly #open = new Map<RepositoryName, R>();
  /** Repositories that are being closed or deleted; they are opened again only afterwards. */
  readonly #closings = new Map<RepositoryName, Promise<void>>();
  readonly #deleted = new Set<RepositoryName>();
  readonly #links = new Set<RepositoryLink>();
  readonly #scrubbing: Scrubbing;
  #connection: DatabaseConnection | undefined;
  #tap: Tap | undefined;
  #frameTap: FrameTap | undefined;
  #closing: Promise<void> | undefined;

  /** Names of repositories, where looking for them takes time. */
  readonly #names: Set<string> | undefined;

  constructor(parts: Parts<R>) {
    refuseOptions(this);
    const { keyring, world, storage, options, names } = parts;
    this.#parts = parts;
    this.#clock = new FollowingWorld(world);
    this.#names = names && new Set(names);
    this.storage = new StorageObserver({
      world,
      now: () => this.#storageStatus(),
      persist: () => Promise.resolve(storage.usage().persisted),
      report: options.onListenerError,
    });
    if (keyring.isMended) this.storage.incident(keysMended(world));
    keyring.onSession = (session) => {
      for (const { replica } of this.#links) replica.useSession(session);
    };
    this.#scrubbing = new Scrubbing({
      storage,
      world,
      scrub: options.scrub ?? options.isOwner === true,
      incident: (incident) => this.storage.incident(incident),
      mendKeys: () => keyring.mend(),
    });
  }

  get [inside](): DatabaseInternals {
    return {
      ...this.#parts,
      rules: this.#parts.options.rules,
      onDamaged: this.#scrubbing.onDamaged,
      open: () => [...this.#open.values()].flatMap(openedOf),
      tap: (tap) => this.#tapped(tap),
    };
  }

  #tapped(tap: FrameTap | undefined): void {
    this.#frameTap = tap;
    this.#tap = undefined;
    if (tap === undefined) return;
    void import("./online.ts").then(({ framesTo }) => {
      if (this.#frameTap === tap) this.#tap = framesTo(tap, this.#parts.world);
    });
  }

  get mode(): Mode {
    return this.#parts.mode;
  }

  get rootKey(): Uint8Array {
    return this.#parts.keyring.rootKey.slice();
  }

  get user(): string {
    return this.#parts.keyring.session.user;
  }

  get sessionKey(): Uint8Array {
    return this.#parts.keyring.key.signer.publicKey.slice();
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  connect(
    target: string | URL | Connector,
    given?: ConnectOptions,
  ): Connection {
    if (this.#closing !== undefined) throw closedError();
    if (this.#connection !== undefined) {
      throw connectedError(this.#connection.address);
    }
    if (this.#parts.options.readOnly) throw readOnlyError("Cannot connect");
    const options = checkOptions(given, connectOptions);
    const { world, keyring, door, options: { onListenerError } } = this.#parts;
    return this.#connection = new DatabaseConnection({
      target,
      options,
      world,
      follow: (clockOffsetMs) => this.#clock.follow(clockOffsetMs),
      keyring,
      ...door.prepare && { prepare: door.prepare },
      links: () => this.#links,
      ended: () => this.#connection = undefined,
      tap: (way, frame) => this.#tap?.(way, frame),
      ...(onListenerError !== undefined && { report: onListenerError }),
    });
  }

  repository(name: string): Promise<R> {
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

  async #openRepository(name: RepositoryName): Promise<R> {
    const { make, options, schemas, storage, keyring } = this.#parts;
    const world = this.#clock;
    await this.#closings.get(name);
    if (this.#deleted.has(name)) await endDeletions(this.#parts.options);
    this.#deleted.delete(name);
    if (keyring.lost.length > 0) await lateRefusing.load();
    const { session } = keyring;
    const folder = replicaFolder(name);
    await storage.prepare?.(folder);
    await schemas.prepare();
    const isReadOnly = options.readOnly === true;
    if (isReadOnly && storage.list(folder).length === 0) {
      throw readOnlyError(`There is no repository "${name}"`);
    }
    const unfit = new UnfitFields(world);
    const replica = await this.#openReplica(name, session, unfit)
      .catch((cause) => {
        storage.release?.(folder);
        throw cause;
      });
    this.#names?.add(name);
    // A login may have come in between.
    if (keyring.session !== session) replica.useSession(keyring.session);
    // What opening makes anew is in memory only, and so would be a write.
    if (isReadOnly) replica.loaded.log.fail(readOnlyError("Cannot write"));
    else replica.rewriteLost(keyring.lost);
    replica.loaded.log.onFailed((why) => this.storage.failed(name, why));
    const link = this.#link(replica, unfit);
    const repository = make({
      replica,
      schemas,
      world,
      hooks: hooksOf(options),
      link,
      undoFile: localFileOf(storage, folder, undoFile),
      overwrittenFile: localFileOf(storage, folder, overwrittenFile),
      closing: (done) => this.#repositoryCloses(name, done),
    });
    this.#open.set(name, repository);
    this.#scrubbing.begin(replica);
    this.storage.changed();
    this.#connection?.join(link);
    return repository;
  }

  #openReplica(
    name: RepositoryName,
    session: Session,
    unfit: UnfitFields,
  ): Promise<Replica> {
    const { options, mode, schemas, keyring } = this.#parts;
    const { storage, door } = this.#parts;
    return Replica.open({
      door,
      storage,
      world: this.#clock,
      name,
      mode,
      isModeRequired: options.mode !== undefined,
      rootKey: keyring.rootKey,
      session,
      isOriginal: keyring.isOriginal,
      lent: options.isOwner === true ? "new" : undefined,
      viewOf: schemas.viewsFor(unfit.note),
      schemas: schemas.all(),
      repair: options.repair ?? false,
      settle: keyring.settle,
      async forget({ folder, genesisId }, items) {
        const { forgetErased } = await import("./forget_erased.ts");
        await forgetErased({ storage, folder, genesisId }, items);
      },
      ...(options.rules !== undefined && { rules: options.rules }),
      salt: options.salt,
    });
  }

  #link(replica: Replica, unfit: UnfitFields): RepositoryLink {
    const { storage, world, options: { onListenerError } } = this.#parts;
    const link = new RepositoryLink({
      replica,
      storage,
      world,
      unfit,
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
    this.#scrubbing.end(name);
    this.storage.changed();
    const closed = done.catch(() => {}).then(() =>
      this.#parts.storage.release?.(replicaFolder(name))
    );
    this.#holdBack(name, closed);
  }

  /** Nobody opens a repository before this is done, or has failed. */
  #holdBack(name: RepositoryName, done: Promise<void>): void {
    const gone = done.catch(() => {}).then(() => {
      if (this.#closings.get(name) === gone) this.#closings.delete(name);
    });
    this.#closings.set(name, gone);
  }

  async deleteRepository(
    name: string,
    options?: DeleteOptions,
  ): Promise<void> {
    const deletion = await import("./deletion.ts");
    const isDiscarding = deletion.parseDiscard(options);
    const key = parseRepositoryName(name);
    deletion.checkDevice(this.#parts.options);
    const repository = await this.#lastOpened(key, isDiscarding);
    if (this.#closing !== undefined) throw closedError();
    const link = [...this.#links].find((one) => one.replica.name === key);
    if (!isDiscarding && link) deletion.checkSent(link);
    const graph = link?.replica.graph;
    const commits = graph?.commits;
    repository?.close().catch(() => {}); // What failed is deleted, too.
    const closed = Promise.resolve(this.#closings.get(key));
    const deleted = closed.then(async () => {
      if (!isDiscarding && graph?.commits !== commits) {
        throw deletion.unsentError(name, "was written while it was closed");
      }
      const { storage, options: { isOwner = false } } = this.#parts;
      this.#deleted.add(key);
      await deletion.deleteReplica(storage, replicaFolder(key), isOwner);
      this.#deleted.delete(key);
      this.#names?.delete(key);
      this.storage.changed();
    });
    this.#holdBack(key, deleted);
    await deleted;
  }

  /** A repository that is open, or whose commits must be counted. Nothing may come between it and its end. */
  async #lastOpened(
    name: RepositoryName,
    isDiscarding: boolean,
  ): Promise<R | undefined> {
    const folder = replicaFolder(name);
    for (;;) {
      await this.#closings.get(name);
      const isCounted = !isDiscarding &&
        hasReplica(this.#parts.storage, folder);
      const opening = isCounted
        ? this.repository(name)
        : this.#repositories.get(name);
      const repository = isDiscarding
        ? await opening?.catch(() => undefined)
        : await opening;
      // It may have been closed or opened meanwhile.
      const isSame = this.#repositories.get(name) === opening;
      if (isSame && !this.#closings.has(name)) return repository;
    }
  }

  repositories(): string[] {
    const names = this.#names;
    if (names === undefined) return listReplicas(this.#parts.storage);
    return [...names].sort();
  }

  #storageStatus(): Omit<StorageStatus, "incidents"> {
    let [usedBytes, unsyncedBytes] = [0, 0];
    for (const repository of this.#open.values()) {
      const status = repository.status();
      usedBytes += status.logBytes + status.checkpointBytes;
      unsyncedBytes += status.unsyncedBytes;
    }
    const open = [...this.#open.keys()].sort();
    const usage = this.#parts.storage.usage();
    const { isNearlyFull = false } = usage;
    return { ...usage, usedBytes, unsyncedBytes, open, isNearlyFull };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#connection?.close();
    this.storage.stop();
    const opening = await Promise.allSettled(this.#repositories.values());
    const closings = opening.map((result) =>
      result.status === "fulfilled" ? result.value.close() : undefined
    );
    const results = await Promise.allSettled([
      ...closings,
      ...this.#closings.values(),
      this.#settle(),
      this.#parts.keyring.settled(),
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
