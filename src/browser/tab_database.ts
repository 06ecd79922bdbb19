/**
 * The database of a tab: what an app holds in a page, while the files are with
 * the owner (docs/tabs.md).
 *
 * It wires and delegates: the line to the owner in `tab_link.ts`, replicas in
 * `tab_repository.ts`. Nothing here waits for the network.
 *
 * Architecture invariant: reads and writes are calls within the page; only
 * opening and durability wait for the owner.
 */

import { toHex } from "../base/bytes.ts";
import { deferred } from "../base/deferred.ts";
import { DatabaseError } from "../base/errors.ts";
import { checkOptions, refuseOptions } from "../base/known_options.ts";
import type { World } from "../base/world.ts";
import type { Connection, ConnectOptions } from "../db/connect.ts";
import { parseAddress } from "../db/connectors.ts";
import {
  closedError,
  connectedError,
  type Database,
  type DatabaseTabs,
  type DeleteOptions,
  type TabsStatus,
} from "../db/face.ts";
import {
  type Frame,
  type FrameTap,
  inside,
  type Observable,
} from "../db/internals.ts";
import { Listeners } from "../db/listeners.ts";
import { connectOptions, type DatabaseOptions } from "../db/options.ts";
import type { Repository } from "../db/repository.ts";
import type { Schemas } from "../db/schemas.ts";
import { StorageObserver, type StorageStatus } from "../db/storage_status.ts";
import type { Mode, Session } from "../../repo/mod.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { failureOf } from "./failure.ts";
import type {
  Ask,
  Hello,
  OwnerMessage,
  SessionReport,
  Welcome,
  Wishes,
} from "./messages.ts";
import { TabConnection } from "./tab_connection.ts";
import type { Left } from "./tab_left.ts";
import type { TabLink } from "./tab_link.ts";
import { sessionOfReport } from "./tab_session.ts";
import { TabRepositories } from "./tab_repositories.ts";

export interface TabDatabaseParts {
  readonly options: Omit<DatabaseOptions, "path" | "storage">;
  readonly schemas: Schemas;
  readonly world: World;
  readonly wishes: Wishes;
  readonly isHidden: () => boolean;
  /** Asks the browser to keep the files when space gets scarce. */
  readonly persist: () => Promise<boolean>;
  readonly left: Left;
  /** Gives the tab's locks back and ends its worker. */
  readonly ended: () => void;
}

/** A database whose files are with the owner of this device. */
export class TabDatabase implements Database {
  readonly storage: StorageObserver;
  readonly tabs: DatabaseTabs;
  readonly #parts: TabDatabaseParts;
  #repositories!: TabRepositories;
  readonly #tabListeners: Listeners;
  #tabsStatus: TabsStatus = Object.freeze({
    role: "connecting",
    count: 1,
    reload: undefined,
  });
  readonly #welcomed = deferred<void>();
  #link!: TabLink;
  #welcome: Welcome | undefined;
  #session: Session | undefined;
  #sessionReport: SessionReport | undefined;
  #report: Welcome["report"] | undefined;
  #connection: TabConnection | undefined;
  #failure: DatabaseError | undefined;
  #tap: FrameTap | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: TabDatabaseParts) {
    refuseOptions(this);
    const { world, options: { onListenerError: report }, persist } = parts;
    this.#parts = parts;
    this.#tabListeners = new Listeners(report);
    this.storage = new StorageObserver({
      world,
      now: () => this.#storageStatus(),
      persist,
      report,
    });
    const getSnapshot = () => this.#tabsStatus;
    this.tabs = {
      get status() {
        return getSnapshot();
      },
      getSnapshot,
      subscribe: (listener) => this.#tabListeners.add(listener),
    };
    const observable: Observable = {
      world,
      rules: parts.options.rules,
      open: () => this.#repositories.all(),
      tap: (tap) => this.#tapped(tap),
    };
    // A getter by a symbol would keep the class in pages that do without: bundlers take it for an effect.
    Object.defineProperty(this, inside, { value: observable });
  }

  /** Speaks over this line; resolves when an owner has taken this tab in. */
  begin(link: TabLink): Promise<void> {
    this.#link = link;
    this.#repositories = new TabRepositories({
      ...this.#parts,
      link,
      welcome: () => this.#known,
      session: () => this.#session!,
      changed: () => this.storage.changed(),
    });
    link.start();
    return this.#welcomed.promise;
  }

  hello(): Hello {
    const { wishes, isHidden } = this.#parts;
    // Another owner may have found no files, and must not begin another database.
    const rootKey = this.#welcome && toHex(this.#welcome.rootKey);
    return {
      kind: "hello",
      wishes: { ...wishes, ...rootKey !== undefined && { rootKey } },
      isHidden: isHidden(),
      chains: this.#repositories.chains(),
      session: this.#sessionReport,
      connect: this.#connection?.request,
    };
  }

  /** The page may go away, be it without another word. */
  keep(): void {
    this.#repositories.keep();
  }

  /** It is back. */
  back(): void {
    this.#repositories.back();
  }

  isJoined(repository: string): boolean {
    return this.#repositories.isJoined(repository);
  }

  /** Does anything wait for the owner? */
  get isWaiting(): boolean {
    return this.#repositories.isWaiting;
  }

  welcomed(welcome: Welcome): void {
    this.#welcome = welcome;
    this.#useSession(welcome.session);
    this.#connection?.welcomed(welcome.report.connection);
    this.#reported(welcome.report);
    this.#repositories.join();
    if (this.#tap !== undefined) this.#tapped(this.#tap);
    this.#welcomed.resolve();
  }

  rejected(why: DatabaseError): void {
    this.#failure = why;
    if (why.code === "other-version") this.otherVersion();
    this.#welcomed.reject(why);
    this.#repositories.fail(why);
  }

  /** Another build of the app is open in this browser. */
  otherVersion(): void {
    this.#tabsChanged({
      reload:
        "Another page runs another version of this app: reload all of its pages",
    });
  }

  hear(message: OwnerMessage): void {
    if ("repository" in message) {
      return this.#repositories.hear(message);
    }
    if (message.kind === "database") return this.#reported(message);
    if (message.kind === "frames") return message.frames.forEach(this.#frame);
    if (message.kind === "ask") void this.#answer(message);
  }

  /** Frames go by where the connection is: that owner is asked to show them. */
  #tapped(tap: FrameTap | undefined): void {
    this.#tap = tap;
    this.#link.call("tap", [tap !== undefined]).catch(() => {}); // It was closed.
  }

  readonly #frame = (frame: Frame): void => this.#tap?.(frame);

  #reported(report: Welcome["report"]): void {
    this.#report = report;
    if (report.session !== undefined) {
      this.#useSession(report.session);
      this.#link.tellNext();
    }
    const { connection } = report;
    if (this.#connection === undefined && connection !== undefined) {
      this.#connection = this.#connectionTo(connection.address, undefined);
    }
    this.#connection?.report(connection);
    this.storage.changed();
    this.#tabsChanged({
      role: this.#link.isNear ? "owner" : "follower",
      count: Math.max(1, report.tabs.length),
    });
  }

  #tabsChanged(change: Partial<TabsStatus>): void {
    const next = { ...this.#tabsStatus, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#tabsStatus)) return;
    this.#tabsStatus = Object.freeze(next);
    this.#tabListeners.tell();
  }

  #useSession(report: SessionReport): void {
    this.#session = sessionOfReport(report);
    this.#sessionReport = report;
    for (const { replica } of this.#repositories.all()) {
      replica.useSession(this.#session);
    }
  }

  async #answer(ask: Ask): Promise<void> {
    const reply = { kind: "reply", ask: ask.ask } as const;
    try {
      if (this.#connection === undefined) throw closedError();
      const value = await this.#connection.answer(ask);
      this.#link.post({ ...reply, value });
    } catch (cause) {
      // A function of the app, which most likely asked somebody who is away.
      const failure = failureOf(cause, "unreachable");
      this.#link.post({ ...reply, failure });
    }
  }

  get #known(): Welcome {
    if (this.#welcome === undefined) throw closedError();
    return this.#welcome;
  }

  get mode(): Mode {
    return this.#known.mode;
  }

  get rootKey(): Uint8Array {
    return this.#known.rootKey.slice();
  }

  get user(): string {
    return this.#session!.user;
  }

  get sessionKey(): Uint8Array {
    return this.#session!.signer.publicKey.slice();
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  connect(
    target: string | URL | Connector,
    given?: ConnectOptions,
  ): Connection {
    if (this.#closing !== undefined) throw closedError();
    if (typeof target === "object" && !(target instanceof URL)) {
      throw new DatabaseError(
        "invalid-option",
        "Give connect() an address: the connection is made where the files are",
      );
    }
    const options = checkOptions(given, connectOptions);
    const { href } = parseAddress(target);
    const known = this.#connection;
    // One device has one connection: another tab's is joined.
    if (known !== undefined && (known.request || known.address !== href)) {
      throw connectedError(known.address);
    }
    this.#connection = this.#connectionTo(href, options);
    this.#connection.begin();
    this.#connection.report(this.#report?.connection);
    return this.#connection;
  }

  #connectionTo(
    address: string,
    options: ConnectOptions | undefined,
  ): TabConnection {
    const { onListenerError: report } = this.#parts.options;
    const connection: TabConnection = new TabConnection({
      address,
      options,
      call: (method, args = []) => this.#link.call(method, args),
      ended: () => {
        if (this.#connection === connection) this.#connection = undefined;
      },
      report,
    });
    return connection;
  }

  repository(name: string): Promise<Repository> {
    if (this.#closing !== undefined) return Promise.reject(closedError());
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return this.#repositories.open(name);
  }

  async deleteRepository(
    name: string,
    options?: DeleteOptions,
  ): Promise<void> {
    if (this.#closing !== undefined) throw closedError();
    if (this.#failure !== undefined) throw this.#failure;
    await this.#repositories.delete(name, options);
    if (this.#report === undefined) return;
    // The next report comes a little later.
    const repositories = this.repositories().filter((one) => one !== name);
    this.#report = { ...this.#report, repositories };
  }

  repositories(): string[] {
    return [...this.#report?.repositories ?? []];
  }

  #storageStatus(): Omit<StorageStatus, "incidents"> {
    const owner = this.#report?.storage;
    // In Fast mode the owner has acknowledged what it has in memory.
    const there = this.#welcome?.mode === "fast"
      ? owner?.unsyncedBytes ?? 0
      : 0;
    return {
      backend: "unknown",
      persisted: false,
      usedBytes: 0,
      isNearlyFull: false,
      ...owner,
      unsyncedBytes: this.#repositories.unsyncedBytes + there,
      open: this.#repositories.names(),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.storage.stop();
    const results = await this.#repositories.close();
    this.#link.close();
    this.#parts.ended();
    const failed = results.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
