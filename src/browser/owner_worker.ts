/**
 * The life of a page's worker: it stands in line for the files of the database,
 * is their owner for a time, and gives them back when its page is about to be
 * frozen, when somebody took them, or with its own end.
 *
 * Architecture invariant: files are touched only between the moment in which
 * the lock was granted and the moment in which it is given back or lost.
 */

import { assert, DatabaseError } from "../base/errors.ts";
import { toHex } from "../base/bytes.ts";
import { type Deferred, deferred } from "../base/deferred.ts";
import type { World } from "../base/world.ts";
import type { BrowserStorage } from "../storage/browser_storage.ts";
import type { Storage } from "../storage/storage.ts";
import type { KeyVault } from "../storage/key_vault.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { lateDoor } from "../../repo/admission/door.ts";
import { type BareParts, BareRepository } from "../db/bare_repository.ts";
import { openFilesAs } from "../db/local_database.ts";
import { internalsOf } from "../db/internals.ts";
import type { Keyring } from "../db/keyring.ts";
import { type StorageIncident, StorageObserver } from "../db/storage_status.ts";
import { failureOf } from "./failure.ts";
import { holdLock, type Locks, ownedByLock, ownerLock } from "./locks.ts";
import type { Envelope, Hello, OwnerMessage, TabMessage } from "./messages.ts";
import { Owner } from "./owner.ts";
import type { OwnedDatabase } from "./owner_repositories.ts";
import { Route, type Wire } from "./route.ts";
import { keptSessionOf } from "./tab_session.ts";

/** Files that can be taken from whoever has them, and that say so. */
export type OwnedStorage =
  & Storage
  & Pick<BrowserStorage, "term" | "canBeStolen" | "watch" | "close">;

/** Nothing comes from elsewhere before a connection. */
const door = lateDoor(() => import("../db/online.ts"));

export interface OwnerWorkerParts {
  /** To the page that started it. */
  readonly port: Wire;
  /** To the pages of a database. */
  readonly channelOf: (database: string) => Wire;
  readonly locks: Locks;
  readonly world: World;
  readonly openStorage: (
    options: { readonly name: string; readonly steal: boolean },
  ) => Promise<OwnedStorage>;
  readonly vaultOf?: (database: string) => KeyVault;
  readonly connectorOf?: (address: string) => Connector;
}

interface Serving {
  readonly owner: Owner;
  readonly database: OwnedDatabase;
  readonly storage: OwnedStorage;
  readonly tenure: Tenure;
}

/** What outlives files that were lost. */
interface Rescued {
  readonly keyring: Keyring;
  readonly incident: StorageIncident;
}

/** Files of somebody who does not let go are tried again after so long. */
const RETRY_MS = 100;

export class OwnerWorker {
  readonly #parts: OwnerWorkerParts;
  readonly #id: string;
  readonly #near: Route<"tab">;
  readonly #hello = deferred<void>();
  /** How its page wants the database, and whom it knows to write there, as it said last. */
  #said: Hello | undefined;
  #far: Route<"tab"> | undefined;
  #tab = "";
  #name = "";
  #election: Election | undefined;
  #serving: Serving | undefined;
  /** What is being closed; nothing is opened before that is done. */
  #closing: Promise<void> = Promise.resolve();
  #wantsTurn = false;

  constructor(parts: OwnerWorkerParts) {
    this.#parts = parts;
    const dice = new Uint8Array(12);
    parts.world.random(dice);
    this.#id = `o${toHex(dice)}`;
    this.#near = new Route(parts.port, {
      id: this.#id,
      hears: "tab",
      hear: (envelope) => this.#hearNear(envelope),
      otherVersion: (from) => this.#reject(this.#near, from),
    });
  }

  #hearNear(envelope: Envelope & { readonly message: TabMessage }): void {
    const { message, from } = envelope;
    switch (message.kind) {
      case "start":
        return this.#start(from, message.name);
      case "yield":
        return this.#yield();
      case "freeze":
        return this.#freeze();
      case "resume":
        return this.#stand();
      case "steal":
        this.#wantsTurn = true;
        return this.#election?.steal();
      case "hello":
        this.#said = message;
        this.#hello.resolve();
    }
    this.#pass(envelope, this.#near);
  }

  #start(tab: string, name: string): void {
    if (this.#election !== undefined) return;
    const { channelOf, locks } = this.#parts;
    this.#tab = tab;
    this.#name = name;
    const far: Route<"tab"> = new Route(channelOf(name), {
      id: this.#id,
      hears: "tab",
      // Its own page speaks to it over the port.
      hear: (envelope) => envelope.from !== tab && this.#pass(envelope, far),
      otherVersion: (from) => this.#reject(far, from),
    });
    this.#far = far;
    const lock = ownerLock(name);
    const won = (tenure: Tenure) => void this.#serve(this.#signed(tenure));
    this.#election = new Election({ locks, lock, won });
    this.#stand();
  }

  /** Says by a lock whose worker the owner is, as long as it is one. */
  #signed(tenure: Tenure): Tenure {
    const name = ownedByLock(this.#name, this.#tab);
    const held = holdLock(this.#parts.locks, name);
    const end = () => void held.then((release) => release());
    tenure.lost.addEventListener("abort", end);
    const release = () => {
      tenure.release();
      end();
    };
    return { ...tenure, release };
  }

  #stand(): void {
    this.#wantsTurn = true;
    void this.#closing.then(() => this.#wantsTurn && this.#election?.stand());
  }

  /** Gives what a tab says to the owner, if it is one for that tab. */
  #pass(
    { from, term, message }: Envelope & { readonly message: TabMessage },
    route: Route<"tab">,
  ): void {
    if (this.#serving === undefined) return;
    const { owner, storage } = this.#serving;
    const isNew = term === 0 && message.kind === "hello";
    if (term !== storage.term && !isNew) return;
    owner.hear(from, message, route === this.#near, (said, transfer) => {
      route.post(from, storage.term, said, transfer);
    });
  }

  /** Another build asks: it is told, and it is not told anything else. */
  #reject(route: Route<"tab">, from: string): void {
    if (this.#serving === undefined) return;
    const message =
      "Another tab runs another version of this app: reload all of its tabs";
    route.post(from, this.#serving.storage.term, {
      kind: "rejected",
      code: "other-version",
      message,
    });
  }

  async #serve(tenure: Tenure, rescued?: Rescued): Promise<void> {
    let storage: OwnedStorage | undefined;
    try {
      await this.#closing;
      await this.#hello.promise;
      const said = this.#said!;
      const { openStorage } = this.#parts;
      const steal = tenure.isStolen;
      storage = await openStorage({ name: this.#name, steal });
      await rescued?.keyring.copyTo(storage);
      const database = await this.#openDatabase(storage, said);
      if (rescued !== undefined) raise(database, rescued.incident);
      if (internalsOf(database).keyring.isKeyLost) raise(database, keyLost());
      const { world, locks, connectorOf } = this.#parts;
      const { term } = storage;
      const owner = new Owner({
        name: this.#name,
        wishes: said.wishes,
        database,
        storage,
        world,
        locks,
        broadcast: (tabs, said) => this.#far?.post(tabs, term, said),
        connectorOf,
      });
      await owner.begin();
      this.#begin({ owner, database, storage, tenure });
    } catch (cause) {
      await storage?.close().catch(() => {});
      this.#failed(tenure, cause);
    }
  }

  #openDatabase(
    storage: OwnedStorage,
    { wishes: { user, rootKey, mode, salt }, session }: Hello,
  ): Promise<OwnedDatabase> {
    const { vaultOf, world } = this.#parts;
    const make = (parts: BareParts) => new BareRepository(parts);
    return openFilesAs({ make, door }, {
      ...vaultOf && { vault: vaultOf(this.#name) },
      storage,
      world,
      user,
      isOwner: true,
      ...rootKey !== undefined && { rootKey },
      ...session !== undefined && { lostSession: keptSessionOf(session) },
      ...mode !== undefined && { mode },
      ...salt !== undefined && { salt },
    });
  }

  #begin(serving: Serving): void {
    const { database, storage, tenure } = serving;
    this.#serving = serving;
    if (tenure.lost.aborted || !this.#wantsTurn) return this.#end(serving);
    tenure.lost.addEventListener("abort", () => this.#end(serving));
    storage.watch((incident) => {
      const { code } = incident;
      if (code === "database-locked") this.#end(serving);
      else if (code === "storage-evicted") this.#rescue(serving, incident);
      else raise(database, incident);
    });
    this.#announce(storage.term);
  }

  #announce(term: number): void {
    const announce: OwnerMessage = { kind: "announce" };
    this.#near.post(undefined, term, announce);
    this.#far?.post(undefined, term, announce);
  }

  #failed(tenure: Tenure, cause: unknown): void {
    tenure.release();
    const failure = failureOf(cause);
    const isHeld = cause instanceof DatabaseError &&
      (cause.code === "database-locked" || cause.code === "storage-evicted");
    if (isHeld) {
      // By somebody who does not know yet that its time is over, or by the browser, which is removing them.
      return void this.#parts.world.after(RETRY_MS, () => this.#stand());
    }
    this.#near.post(this.#tab, 0, { kind: "rejected", ...failure });
  }

  #end(serving: Serving): void {
    if (!this.#stop(serving)) return;
    this.#closing = this.#closing.then(() => serving.tenure.release());
    if (this.#wantsTurn) this.#stand();
  }

  /** Closes owner and files; false where that was done. */
  #stop(serving: Serving): boolean {
    if (this.#serving !== serving) return false;
    this.#serving = undefined;
    this.#closing = serving.owner.close()
      .catch(() => {}) // A fenced one cannot write any more, and must not.
      .then(() => serving.storage.close())
      .catch(() => {});
    return true;
  }

  /** The page has no more use for it: all is closed in good order. */
  #yield(): void {
    this.#wantsTurn = false;
    if (this.#serving !== undefined) return this.#end(this.#serving);
    if (this.#election?.isHolding === false) this.#election.leave();
  }

  /**
   * The page is about to be frozen, and its worker with it, perhaps within this
   * very turn: the next owner must not wait for what takes longer. What was
   * acknowledged is durable, and tabs say again what was not.
   */
  #freeze(): void {
    const serving = this.#serving;
    if (serving?.storage.canBeStolen !== true) return this.#yield();
    this.#wantsTurn = false;
    this.#closing = this.#drop(serving);
    serving.tenure.release();
  }

  /** Lets go of files without another look at them; resolves when that is done. */
  async #drop({ owner, storage, database }: Serving): Promise<void> {
    this.#serving = undefined;
    owner.stop();
    await storage.close().catch(() => {}); // Somebody else has them already, or nobody.
    await database.close().catch(() => {}); // Its files are closed.
  }

  /**
   * The files are gone. Tabs have in memory what was in them: fresh ones, under
   * the same keys, are filled by the tabs, and by the server.
   */
  #rescue(serving: Serving, incident: StorageIncident): void {
    if (this.#serving !== serving) return;
    this.#serving = undefined;
    const { owner, database } = serving;
    owner.stop();
    // No file is closed: in Chromium a handle of a removed file blocks its thread for ever then.
    void database.connection?.close();
    const { keyring } = internalsOf(database);
    void this.#serve(serving.tenure, { keyring, incident });
  }
}

function keyLost(): StorageIncident {
  const message =
    "The browser removed this device's key: it signs with a new one from now on. What was written is kept";
  return { code: "key-lost", at: Date.now(), message };
}

function raise({ storage }: OwnedDatabase, incident: StorageIncident): void {
  assert(storage instanceof StorageObserver, "its files are here");
  storage.incident(incident);
}

export interface Tenure {
  /** Was the lock taken from somebody who may still be at work? */
  readonly isStolen: boolean;
  /** Aborts when somebody took the lock away. */
  readonly lost: AbortSignal;
  /** Gives the lock to the next in line. */
  release(): void;
}

interface ElectionParts {
  readonly locks: Locks;
  readonly lock: string;
  /** Runs with each tenure that begins. */
  readonly won: (tenure: Tenure) => void;
}

interface Attempt {
  readonly stop: AbortController;
  readonly lost: AbortController;
  readonly end: Deferred<void>;
  isHolding: boolean;
}

/**
 * Who owns the files: stands in line for the lock of a database, takes it by
 * force when told, gives it back, and says when it was taken away.
 *
 * It knows nothing of what an owner does.
 *
 * Architecture invariant: one election has at most one tenure at a time, and a
 * tenure that ended never comes back.
 */
export class Election {
  readonly #parts: ElectionParts;
  #attempt: Attempt | undefined;

  constructor(parts: ElectionParts) {
    this.#parts = parts;
  }

  get isHolding(): boolean {
    return this.#attempt?.isHolding === true;
  }

  /** Stands in line, unless it does or has won already. */
  stand(): void {
    if (this.#attempt === undefined) this.#ask(false);
  }

  steal(): void {
    if (this.isHolding) return;
    this.#attempt?.stop.abort();
    this.#ask(true);
  }

  leave(): void {
    const attempt = this.#attempt;
    this.#attempt = undefined;
    if (attempt === undefined) return;
    if (attempt.isHolding) attempt.end.resolve();
    else attempt.stop.abort();
  }

  #ask(isStolen: boolean): void {
    const attempt: Attempt = {
      stop: new AbortController(),
      lost: new AbortController(),
      end: deferred<void>(),
      isHolding: false,
    };
    this.#attempt = attempt;
    const { locks, lock, won } = this.#parts;
    const hold = (): Promise<void> => {
      if (this.#attempt !== attempt) return Promise.resolve();
      attempt.isHolding = true;
      won({
        isStolen,
        lost: attempt.lost.signal,
        release: () => this.#attempt === attempt && this.leave(),
      });
      return attempt.end.promise;
    };
    const { signal } = attempt.stop;
    // The platform takes no signal beside a theft, which waits for nobody.
    locks.request(lock, isStolen ? { steal: true } : { signal }, hold).catch(
      () => this.#failed(attempt),
    );
  }

  /** The wait was given up, or the lock was stolen. */
  #failed(attempt: Attempt): void {
    if (this.#attempt === attempt) this.#attempt = undefined;
    if (attempt.isHolding) attempt.lost.abort();
  }
}
