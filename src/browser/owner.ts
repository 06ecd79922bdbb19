/**
 * The owner: the one `Database` of a device, and the tabs that share it.
 *
 * It wires and delegates. Which tab writes what is in `owner_members.ts`, what a
 * repository shows and takes in `owner_repository.ts`.
 *
 * Architecture invariant: an owner that is closed or fenced says nothing any
 * more; only a tab that is a member is heard.
 */

import { equalBytes, fromHex } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Connector } from "../../sync/transport/transport.ts";
import { type Frame, internalsOf, type Observable } from "../db/internals.ts";
import type { Storage } from "../storage/storage.ts";
import type { DeleteOptions } from "../db/face.ts";
import { type LocalFile, localFileOf } from "../db/local_file.ts";
import { failureOf, isGone } from "./failure.ts";
import type { Locks } from "./locks.ts";
import {
  type Call,
  type CallMethod,
  type ConnectRequest,
  type Failure,
  type Hello,
  isRecords,
  type Open,
  type Opened,
  type TabMessage,
  type Welcome,
  type Wishes,
} from "./messages.ts";
import { Asks, OwnerConnection } from "./owner_connection.ts";
import {
  type Broadcast,
  Loans,
  type Member,
  Members,
  type Post,
} from "./owner_members.ts";
import { DatabaseReports, sessionOf } from "./owner_reports.ts";
import type { OwnedRepository } from "./owner_repository.ts";
import { type OwnedDatabase, OwnedRepositories } from "./owner_repositories.ts";

export interface OwnerParts {
  readonly name: string;
  readonly database: OwnedDatabase;
  /** What the tab wanted that the database was opened for. */
  readonly wishes: Wishes;
  readonly storage: Storage;
  readonly world: World;
  readonly locks: Locks;
  readonly broadcast: Broadcast;
  /** Another way to a server than its address, for tests. */
  readonly connectorOf?: ((address: string) => Connector) | undefined;
}

type Method = (call: Call, tab: Member) => unknown;

export class Owner {
  readonly #parts: OwnerParts;
  readonly #members: Members;
  readonly #loans = new Loans();
  readonly #asks: Asks;
  readonly #connection: OwnerConnection;
  readonly #files: SmallFiles;
  readonly #tap: OwnerTap;
  readonly #repositories: OwnedRepositories;
  readonly #reports: DatabaseReports;
  #isClosed = false;

  constructor(parts: OwnerParts) {
    const { name, database, storage, world, locks, connectorOf } = parts;
    this.#parts = parts;
    const gone = (member: Member) => this.#gone(member);
    this.#members = new Members(locks, name, gone);
    this.#asks = new Asks(world);
    const tabs = () => this.#members.all();
    this.#connection = new OwnerConnection({
      database,
      asks: this.#asks,
      tabs,
      changed: () => this.#reports.changed(),
      ...connectorOf && { connectorOf },
    });
    const broadcast: Broadcast = (...said) =>
      this.#isClosed || parts.broadcast(...said);
    this.#files = new SmallFiles(storage);
    this.#tap = new OwnerTap(internalsOf(database), world, tabs);
    this.#reports = new DatabaseReports({
      database,
      world,
      tabs,
      broadcast,
      connection: () => this.#connection.report(),
    });
    this.#repositories = new OwnedRepositories({
      database,
      storage,
      world,
      loans: this.#loans,
      broadcast,
      isSettled: () => this.#members.isSettled,
      changed: () => this.#reports.changed(),
      onDamaged: internalsOf(database).onDamaged,
    });
  }

  /** Finds out who is alive, before it lends anything. */
  begin(): Promise<void> {
    return this.#members.expect();
  }

  hear(from: string, message: TabMessage, isNear: boolean, post: Post): void {
    if (this.#isClosed) return;
    const guarded: Post = (...said) => this.#isClosed || post(...said);
    if (message.kind === "hello") {
      return this.#welcome(from, message, isNear, guarded);
    }
    if (message.kind === "ping") {
      return guarded({ kind: "pong", ping: message.ping });
    }
    const tab = this.#members.get(from);
    if (tab !== undefined) this.#hearMember(tab, message);
  }

  #hearMember(tab: Member, message: TabMessage): void {
    const repositories = this.#repositories;
    switch (message.kind) {
      case "open":
        return void this.#open(tab, message);
      case "write":
        return repositories.write(tab, message);
      case "close":
        return repositories.leave(tab, message.repository);
      case "call":
        return void this.#call(tab, message);
      case "reply":
        return this.#asks.reply(tab, message);
      case "present":
        return repositories.get(message.repository)
          ?.reports.present(tab, message.bytes);
      case "visibility":
        tab.isHidden = message.isHidden;
        // What had happened to the network while nobody looked, it may have told nobody.
        if (!tab.isHidden) this.#connection.network(true);
        return;
      case "network":
        return this.#connection.network(message.isThere);
      case "goodbye":
        return this.#members.leave(tab.id);
    }
  }

  #welcome(from: string, hello: Hello, isNear: boolean, post: Post): void {
    try {
      this.#checkWishes(hello.wishes);
    } catch (cause) {
      return post({ kind: "rejected", ...failureOf(cause) });
    }
    const tab = this.#members.join(from, isNear, post, hello);
    if (tab === undefined) {
      const message = `${limits.tabsMax} tabs share this database: close one`;
      return post({ kind: "rejected", code: "value-too-large", message });
    }
    for (const [repository, chain] of hello.chains) {
      this.#loans.claim(repository, chain, tab.id);
    }
    this.#connectAs(tab, hello.connect);
    tab.post(this.#introduction()); // It says that there is a connection: else the tab's ends.
    this.#reports.changed();
  }

  #connectAs(tab: Member, request: ConnectRequest | undefined): void {
    if (request === undefined) return;
    try {
      this.#connection.connect(tab, request);
    } catch {
      // It is connected elsewhere, and the tab is told where.
    }
  }

  #introduction(): Welcome {
    const { database } = this.#parts;
    return {
      kind: "welcome",
      rootKey: database.rootKey,
      mode: database.mode,
      session: sessionOf(database),
      report: this.#reports.report(),
    };
  }

  /** Does the database fit what a tab wants of it? */
  #checkWishes({ user, rootKey, mode, salt = false }: Wishes): void {
    const { database, wishes: { user: owner, salt: salts = false } } =
      this.#parts;
    if (salt !== salts) {
      throw new DatabaseError(
        "database-locked",
        `Another tab has the database open with salt ${salts}, this one says ${salt}: close it, or reload it`,
      );
    }
    if (user !== owner) {
      throw new DatabaseError(
        "database-locked",
        `Another tab has the database open for user ${
          JSON.stringify(owner)
        }: close it first`,
      );
    }
    if (
      rootKey !== undefined && !equalBytes(fromHex(rootKey), database.rootKey)
    ) {
      throw new DatabaseError(
        "root-key-mismatch",
        "The database of this browser belongs to another root key: give it another `name`",
      );
    }
    if (mode !== undefined && mode !== database.mode) {
      throw new DatabaseError(
        "mode-mismatch",
        `Another tab has the database open in ${database.mode} mode: reload it`,
      );
    }
  }

  async #open(tab: Member, open: Open): Promise<void> {
    const { call, repository } = open;
    try {
      await this.#repositories.open(tab, open);
    } catch (cause) {
      const failure = failureOf(cause);
      const answer = this.#members.get(tab.id)?.post;
      // It was closed meanwhile: what it asks of now is another one.
      if (failure.code === "closed") answer?.({ kind: "reload", repository });
      else if (!isGone(cause)) {
        answer?.(failed(call, repository, failure));
      }
    }
  }

  readonly #methods: Readonly<Record<CallMethod, Method>> = {
    audit: ({ repository }) => this.#need(repository).repository.sync.audit(),
    receipt: ({ repository }) =>
      this.#need(repository).repository.sync.receipt(),
    checkpoint: ({ repository }) =>
      this.#need(repository).repository.checkpoint(),
    // The parser has seen that `connect` brings an object; `connect()` looks at its fields.
    connect: ({ args }, tab) =>
      this.#connection.connect(tab, args[0] as ConnectRequest),
    // The database looks at both.
    deleteRepository: ({ args }) =>
      this.#repositories.delete(args[0] as string, args[1] as DeleteOptions),
    disconnect: () => this.#connection.disconnect(),
    durable: ({ repository }) => this.#need(repository).repository.durable(),
    handIn: ({ repository, args: [records] }) =>
      isRecords(records) && this.#need(repository).handIn(records),
    overwritten: ({ repository, args }, tab) =>
      this.#need(repository).overwritten.take(tab, args),
    readFile: ({ repository, args: [name] }) =>
      this.#files.read(this.#need(repository).folder, name),
    retryConnection: () => this.#connection.retry(),
    sign: ({ args }) => this.#connection.sign(args[0], args[1]),
    tap: ({ args }, tab) => this.#tap.set(tab, args[0] === true),
    verify: ({ repository, args }) =>
      this.#need(repository).repository
        .verify(args[0] as Record<string, never> ?? {}),
    writeFile: ({ repository, args: [name, bytes] }) =>
      this.#files.write(this.#need(repository).folder, name, bytes),
  };

  #need(repository: string | undefined): OwnedRepository {
    return this.#repositories.need(repository);
  }

  async #call(tab: Member, call: Call): Promise<void> {
    const result = { kind: "result", call: call.call } as const;
    try {
      const value = await this.#methods[call.method](call, tab);
      tab.post({ ...result, value });
    } catch (cause) {
      tab.post({ ...result, failure: failureOf(cause) });
    }
  }

  #gone(member: Member): void {
    this.#repositories.gone(member);
    this.#loans.end(member.id);
    this.#asks.left(member);
    this.#tap.set(member, false);
    this.#reports.changed();
  }

  close(): Promise<void> {
    this.stop();
    return this.#parts.database.close();
  }

  /** Says and hears nothing any more. */
  stop(): void {
    this.#isClosed = true;
    this.#reports.close();
    this.#tap.close();
    this.#repositories.stop();
    this.#members.close();
  }
}

function failed(call: number, repository: string, failure: Failure): Opened {
  const empty = { status: undefined, acknowledged: [], to: 0, others: [] };
  return {
    kind: "opened",
    call,
    repository,
    failure,
    at: { address: 0, crc: 0 },
    known: [],
    sync: { kind: "sync", repository, ...empty },
  };
}

const NAME = /^[a-z][a-z0-9-]{0,31}$/;

/**
 * Small files of tabs beside the log, in folders of repositories: what can be
 * undone, for one.
 *
 * Architecture invariant: a file is what was written last as a whole, or what
 * it was before; never a piece of either.
 */
class SmallFiles {
  readonly #storage: Storage;
  #writing: Promise<void> = Promise.resolve();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  read(folder: string, name: unknown): Promise<Uint8Array | undefined> {
    return this.#file(folder, name).read();
  }

  /** Replaces a file; durable when it resolves. One after the other. */
  write(folder: string, name: unknown, bytes: unknown): Promise<void> {
    const file = this.#file(folder, name);
    const fits = bytes instanceof Uint8Array &&
      bytes.length <= limits.tabFileBytesMax;
    if (!fits) {
      throw new DatabaseError(
        "value-too-large",
        `A small file takes ${limits.tabFileBytesMax} bytes at most`,
      );
    }
    const writing = this.#writing.then(() => file.write(bytes));
    this.#writing = writing.catch(() => {});
    return writing;
  }

  #file(folder: string, name: unknown): LocalFile {
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new DatabaseError(
        "invalid-name",
        "A small file's name is 1 to 32 characters of a-z, 0-9 and -",
      );
    }
    const charsMax = limits.tabFileBytesMax;
    const options = { name: `file-${name}`, charsMax, isDurable: true };
    return localFileOf(this.#storage, folder, options);
  }
}

/**
 * The connection's frames for tabs that inspect them: collected for a moment,
 * the newest ones where there are many.
 *
 * Architecture invariant: nothing is collected for who does not look.
 */
class OwnerTap {
  readonly #observable: Pick<Observable, "tap">;
  readonly #world: World;
  readonly #tabs: () => readonly Member[];
  readonly #lookers = new Set<string>();
  #frames: Frame[] = [];
  #cancel: (() => void) | undefined;

  constructor(
    observable: Pick<Observable, "tap">,
    world: World,
    tabs: () => readonly Member[],
  ) {
    this.#observable = observable;
    this.#world = world;
    this.#tabs = tabs;
  }

  /** A tab begins to look, or looks no more. */
  set({ id }: Pick<Member, "id">, isLooking: boolean): void {
    const had = this.#lookers.size > 0;
    if (isLooking) this.#lookers.add(id);
    else this.#lookers.delete(id);
    const has = this.#lookers.size > 0;
    if (had === has) return;
    this.#observable.tap(
      has ? (frame) => this.#note(frame) : undefined,
    );
    if (!has) this.#drop();
  }

  #note(frame: Frame): void {
    this.#frames.push(frame);
    if (this.#frames.length > 2 * limits.tabFramesMax) this.#trim();
    this.#cancel ??= this.#world.after(
      limits.tabFramesMs,
      () => this.#tell(),
    );
  }

  #trim(): void {
    this.#frames = this.#frames.slice(-limits.tabFramesMax);
  }

  #tell(): void {
    this.#trim();
    const frames = this.#frames;
    this.#drop();
    for (const tab of this.#tabs()) {
      if (this.#lookers.has(tab.id)) tab.post({ kind: "frames", frames });
    }
  }

  #drop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#frames = [];
  }

  /** Shows nothing more to anybody. */
  close(): void {
    this.#lookers.clear();
    this.#observable.tap(undefined);
    this.#drop();
  }
}
