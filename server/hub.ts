/**
 * The hub: repositories that are opened when somebody asks for them and closed
 * when nobody has for a while.
 *
 * Architecture invariant: at most `openMax` are open for peers, and none is
 * opened without memory; who comes when all of them are in use is told to come
 * back.
 */

import { DatabaseError } from "../src/base/errors.ts";
import type { World } from "../src/base/world.ts";
import type { Database } from "../src/db/database.ts";
import { internalsOf, replicaOf } from "../src/db/internals.ts";
import type { Repository } from "../src/db/repository.ts";
import { markDamaged, type Replica, type RepositoryName } from "../repo/mod.ts";
import type { HostedRepository } from "../sync/host_hooks.ts";
import type { Storage } from "../src/storage/storage.ts";
import { isDamage } from "../repo/log/mend.ts";
import type { SyncHost } from "../sync/host.ts";
import { type Log, messageOf } from "./log.ts";

export interface HubParts {
  readonly database: Database;
  readonly world: World;
  readonly idleMs: number;
  readonly openMax: number;
  /** Is there no memory for more? */
  readonly isFull: () => boolean;
  /** Repositories in all; a new one beyond is not begun. */
  readonly repositoriesMax: number;
  /** Runs before anybody may use a repository that was just opened; the result, before it is closed. */
  readonly opened: (replica: Replica) => Promise<() => void>;
  readonly failed: (name: RepositoryName, error: unknown) => void;
  /** One that had failed can be used again. */
  readonly recovered: (name: string) => void;
}

/** One whose storage failed is opened again by itself after so long … */
const RETRY_MS = 5_000;
/** … and after twice as long each time that fails, up to this. */
const RETRY_MS_MAX = 300_000;

interface Opened {
  readonly repository: Repository;
  readonly replica: Replica;
  readonly closing: () => void;
}

interface Held {
  readonly name: RepositoryName;
  readonly opening: Promise<Opened>;
  /** When it is open. */
  opened: Opened | undefined;
  /** Did somebody else have it open before? Then it stays open. */
  readonly isOurs: boolean;
  users: number;
  /** Cancels the closing. */
  cancel: (() => void) | undefined;
  /** Is it closed with its last user, because it has failed or takes too much? */
  isLeft: boolean;
}

interface Failing {
  readonly waitMs: number;
  readonly cancel: () => void;
}

export class Hub {
  readonly #parts: HubParts;
  /** The one that was released last is last. */
  readonly #held = new Map<RepositoryName, Held>();
  readonly #closings = new Set<Promise<void>>();
  readonly #failing = new Map<RepositoryName, Failing>();
  #isClosed = false;
  #known: Set<string> | undefined;
  /** Those that were begun here for somebody who has written nothing yet: they go when they are closed. */
  readonly #passing = new Set<string>();

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  get names(): RepositoryName[] {
    return [...this.#held.values()].filter(({ isLeft }) => !isLeft)
      .map(({ name }) => name);
  }

  replicaOf(name: RepositoryName): Replica | undefined {
    return this.#held.get(name)?.opened?.replica;
  }

  /** Is there such a repository, or is it being begun? */
  has(name: RepositoryName): boolean {
    return this.#names().has(name);
  }

  /** Bytes of the log of a repository that is open. */
  logBytes(name: RepositoryName): number {
    return this.#held.get(name)?.opened?.replica.loaded.log.end ?? 0;
  }

  /**
   * Has a repository that is open a revocation of a session, so that the door
   * decides? Its key as 32 characters, one a byte.
   */
  hasRecord(name: RepositoryName, key: string): boolean {
    const revocations = this.#held.get(name)?.opened?.replica.loaded
      .credentials.revocations;
    return revocations !== undefined && revocations.of(key).length > 0;
  }

  /** How many repositories cannot be used because their storage fails. */
  get failing(): number {
    return this.#failing.size;
  }

  /** May one be closed here, so as to be opened again? */
  mayReopen(name: RepositoryName): boolean {
    const held = this.#held.get(name);
    return held?.isOurs === true && !held.isLeft;
  }

  /** The storage of one has failed: it is closed with its last user, and opened again by itself. */
  fail(name: RepositoryName): void {
    this.leave(name);
    this.#retryLater(name);
  }

  /** Nobody may use one any more until it is opened again: it is closed with its last user. */
  leave(name: RepositoryName): void {
    const held = this.#held.get(name);
    if (held === undefined) return;
    held.isLeft = true;
    if (held.users === 0) this.#shut(held);
  }

  #retryLater(name: RepositoryName): void {
    if (this.#isClosed) return;
    const before = this.#failing.get(name);
    before?.cancel();
    const waitMs = Math.min((before?.waitMs ?? RETRY_MS / 2) * 2, RETRY_MS_MAX);
    const cancel = this.#parts.world.after(waitMs, () => {
      this.use(name, () => Promise.resolve()).catch(() => {}); // Which has told.
    });
    this.#failing.set(name, { waitMs, cancel });
  }

  #works(name: RepositoryName): void {
    const failing = this.#failing.get(name);
    if (failing === undefined) return;
    failing.cancel();
    this.#failing.delete(name);
    this.#parts.recovered(name);
  }

  /** Uses a repository until its `release`. */
  async open(name: RepositoryName): Promise<HostedRepository> {
    const held = await this.#hold(name);
    try {
      const { replica } = await held.opening;
      return {
        port: replica.port(),
        order: await replica.serve(),
        release: () => this.#release(held),
      };
    } catch (error) {
      this.#release(held);
      throw error;
    }
  }

  /** Runs `work` with a repository that is open for peers meanwhile. */
  async use<T>(
    name: RepositoryName,
    work: (replica: Replica) => Promise<T>,
  ): Promise<T> {
    const held = await this.#hold(name);
    try {
      return await work((await held.opening).replica);
    } finally {
      this.#release(held);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { cancel } of this.#failing.values()) cancel();
    for (const held of [...this.#held.values()]) this.#shut(held);
    await Promise.all(this.#closings);
  }

  async #hold(name: RepositoryName): Promise<Held> {
    if (this.#isClosed) throw unavailable("The server is closing");
    let held = this.#held.get(name);
    if (held?.isLeft) throw unavailable("It is being closed");
    if (held === undefined) {
      this.#checkCount(name);
      this.#makeRoom();
      held = this.#begin(name);
    }
    held.users++;
    held.cancel?.();
    held.cancel = undefined;
    try {
      await held.opening;
      return held;
    } catch (error) {
      held.users--;
      throw error;
    }
  }

  #begin(name: RepositoryName): Held {
    const { database, failed } = this.#parts;
    const isOurs = !database.storage.status().open.includes(name);
    const opening = this.#openRepository(name, isOurs);
    const held: Held = {
      name,
      opening,
      opened: undefined,
      isOurs,
      users: 0,
      cancel: undefined,
      isLeft: false,
    };
    this.#held.set(name, held);
    opening.then(
      (opened) => {
        held.opened = opened;
        this.#works(name);
      },
      (error) => {
        this.#known = undefined; // It may not have been begun.
        if (this.#held.get(name) === held) this.#held.delete(name);
        if (isOfStorage(error)) this.#retryLater(name);
        failed(name, error);
      },
    );
    return held;
  }

  async #openRepository(
    name: RepositoryName,
    isOurs: boolean,
  ): Promise<Opened> {
    const { database, opened } = this.#parts;
    const repository = await database.repository(name);
    try {
      const replica = replicaOf(repository);
      const { failure } = replica.status();
      if (failure !== undefined) throw failure;
      // Nothing may be shared before it: who asked would be told that nothing is here.
      if (replica.mode === "fast") await replica.loaded.log.markInUse();
      await replica.serve();
      replica.isPassing = isOurs && this.#passing.has(name);
      const closing = await opened(replica);
      return { repository, replica, closing };
    } catch (error) {
      if (isOurs) await repository.close();
      throw error;
    }
  }

  #names(): Set<string> {
    return this.#known ??= new Set(this.#parts.database.repositories());
  }

  #checkCount(name: RepositoryName): void {
    const known = this.#names();
    if (known.has(name)) return;
    if (known.size >= this.#parts.repositoriesMax) {
      throw unavailable("There are as many repositories as there may be");
    }
    known.add(name);
    this.#passing.add(name);
  }

  #makeRoom(): void {
    const { openMax, isFull } = this.#parts;
    const isShort = isFull();
    if (!isShort && this.#held.size < openMax) return;
    for (const held of [...this.#held.values()]) {
      if (held.users > 0) continue;
      this.#shut(held);
      if (!isShort) return;
    }
    throw unavailable("Too many repositories are in use, or too large ones");
  }

  #release(held: Held): void {
    held.users--;
    if (held.users > 0 || this.#held.get(held.name) !== held) return;
    if (held.isLeft) return this.#shut(held);
    this.#held.delete(held.name);
    this.#held.set(held.name, held);
    const { world, idleMs } = this.#parts;
    held.cancel = world.after(idleMs, () => {
      if (held.users === 0) this.#shut(held);
    });
  }

  #shut(held: Held): void {
    held.cancel?.();
    this.#held.delete(held.name);
    const closing = this.#close(held);
    this.#closings.add(closing);
    closing.finally(() => this.#closings.delete(closing));
  }

  async #close({ name, opening, isOurs }: Held): Promise<void> {
    const { failed } = this.#parts;
    try {
      const { repository, replica, closing } = await opening;
      closing();
      if (!isOurs) return;
      await repository.close();
      const { graph, loaded: { credentials: { revocations } } } = replica;
      const isGone = this.#passing.delete(name) && graph.commits === 0 &&
        revocations.size === 0;
      if (!isGone) return;
      if (this.#held.has(name)) this.#passing.add(name);
      else this.#known?.delete(name);
    } catch (error) {
      failed(name, error);
    }
  }
}

/** Is it the medium, or what stands on it, that is at fault? */
function isOfStorage(error: unknown): boolean {
  return error instanceof DatabaseError &&
    (/^storage-|-damaged$/.test(error.code) ||
      error.code === "permission-denied");
}

function unavailable(why: string): DatabaseError {
  return new DatabaseError("unreachable", why);
}

/**
 * What is done about a repository that cannot be opened: it is logged, and where
 * its log is damaged, repaired when it is tried again.
 *
 * @param storage where repairs are wanted
 */
export function failedOpening(
  log: Log,
  storage: Storage | undefined,
): (name: RepositoryName, error: unknown) => void {
  return (repository, error) => {
    const message = messageOf(error);
    log.write("error", "repository-failed", { repository, message });
    if (storage === undefined || !isDamage(error)) return;
    markDamaged(storage, repository);
  };
}

interface FailuresParts {
  readonly log: Log;
  readonly hub: Hub;
  readonly decline: SyncHost["decline"];
  /** The server's own repository: only a restart opens it again. */
  readonly own: Replica;
  readonly database: Database;
}

/**
 * Repositories whose storage fails: told in the log and to those who use them,
 * and counted for who asks how the server is.
 *
 * Architecture invariant: a client is never left to believe that a server keeps
 * what it cannot keep.
 */
export class Failures {
  readonly #parts: FailuresParts;
  #isOwnFailing = false;

  constructor(parts: FailuresParts) {
    this.#parts = parts;
    const { own, database } = parts;
    internalsOf(database).onDamaged?.((name, why) => this.#damaged(name, why));
    own.loaded.log.onFailed((failure) => {
      this.#isOwnFailing = true;
      this.#tell(own.name, failure);
    });
  }

  get count(): number {
    return this.#parts.hub.failing + (this.#isOwnFailing ? 1 : 0);
  }

  /** Watches one that is open for peers; the result ends it. */
  follow({ name, loaded }: Replica): () => void {
    const { hub, decline } = this.#parts;
    return loaded.log.onFailed((failure) => {
      this.#tell(name, failure);
      hub.fail(name);
      decline(
        name,
        "unavailable",
        "The server's storage fails: it cannot keep anything now",
      );
    });
  }

  /** What is found damaged is closed, repaired when it is opened, and filled by its clients. */
  #damaged(name: RepositoryName, why: DatabaseError): void {
    const { hub, log } = this.#parts;
    log.write("error", "repository-damaged", {
      repository: name,
      message: why.message,
    });
    const replica = hub.mayReopen(name) ? hub.replicaOf(name) : undefined;
    const fail = () => replica?.loaded.log.fail(why);
    // What is not durable yet would have to be sent again.
    replica?.durable().then(fail, fail);
  }

  #tell(repository: RepositoryName, { message }: DatabaseError): void {
    this.#parts.log.write("error", "repository-failing", {
      repository,
      message,
    });
  }
}
