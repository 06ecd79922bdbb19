/**
 * A tab that says exactly what a test tells it to, message by message, over a
 * replica of its own. The tab that apps have is in `src/browser/`.
 *
 * @module
 */

import { servingDoor } from "../../repo/admission/serving_door.ts";
import { parseRepositoryName, Replica } from "../../repo/mod.ts";
import { folderOf } from "../../repo/commit/genesis.ts";
import { SEAL_BYTES } from "../../repo/log/format.ts";
import { REPOSITORIES } from "../../repo/replica_open.ts";
import { holdLock, type Locks, tabLock } from "../../src/browser/locks.ts";
import type {
  Envelope,
  Hello,
  LogPoint,
  Opened,
  OwnerMessage,
  TabMessage,
  Welcome,
  Wishes,
} from "../../src/browser/messages.ts";
import { Route, type Wire } from "../../src/browser/route.ts";
import { type SessionKey, signerOf } from "../../src/db/session_key.ts";
import { Editor } from "../../src/db/editor.ts";
import { field } from "../../src/schema/field.ts";
import { IdSource } from "../../src/schema/names.ts";
import { defineSchema } from "../../src/schema/schema.ts";
import type { World } from "../../src/base/world.ts";
import { createView } from "../../src/schema/view.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";

type Said<K extends OwnerMessage["kind"]> = Extract<
  OwnerMessage,
  { readonly kind: K }
>;
type Heard = Envelope & { readonly message: OwnerMessage };

/** What raw tabs write. */
export const Leaf = defineSchema("leaf", {
  title: field.string().default(""),
});

/** Where a tab is. */
export interface TabPlace {
  /** To its own worker. */
  readonly port: Wire;
  /** To all pages and workers of the database. */
  channel(): Wire;
  readonly locks: Locks;
  readonly world: World;
}

let calls = 0;
/** What takes longer never comes; no measure of speed: machines are busy. */
const HANGS_MS = 30_000;

/** One tab. */
export class RawTab<P extends TabPlace = TabPlace> {
  readonly id: string = `t${crypto.randomUUID()}`;
  readonly page: P;
  /** Everything that its owner said, oldest first. */
  readonly heard: OwnerMessage[] = [];
  term = 0;
  /** What it says with each hello. */
  hello: Hello;
  /** Says hello by itself whenever there is another owner. */
  isEager = true;
  readonly #near: Route<"owner">;
  readonly #far: Route<"owner">;
  #route: Route<"owner">;
  #listeners = new Set<() => void>();

  private constructor(database: string, page: P, wishes: Wishes) {
    this.page = page;
    this.hello = { kind: "hello", wishes, isHidden: false, chains: [] };
    const { id } = this;
    this.#near = new Route(page.port, {
      id,
      hears: "owner",
      hear: (envelope) => this.#hear(envelope, this.#near),
    });
    this.#far = new Route(page.channel(), {
      id,
      hears: "owner",
      hear: (envelope) => this.#hear(envelope, this.#far),
    });
    this.#route = this.#far;
    this.#near.post(undefined, 0, { kind: "start", name: database });
  }

  /** Opens a tab in a page, and says hello. */
  static async open<P extends TabPlace>(
    database: string,
    page: P,
    wishes: Wishes = { user: "ann" },
  ): Promise<RawTab<P>> {
    const tab = new RawTab(database, page, wishes);
    await holdLock(page.locks, tabLock(database, tab.id));
    tab.#near.post(undefined, 0, tab.hello);
    tab.#far.post(undefined, 0, tab.hello);
    return tab;
  }

  #hear({ term, message }: Heard, route: Route<"owner">): void {
    if (term < this.term) return;
    // An own worker is heard over both, and hears its page over the port only.
    const isNearer = route === this.#near && route !== this.#route;
    if (term > this.term || isNearer) {
      this.term = term;
      this.#route = route;
      if (message.kind === "announce" && this.isEager) this.say(this.hello);
    }
    this.heard.push(message);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Says something to its owner. */
  say(message: TabMessage): void {
    this.#route.post(undefined, this.term, message);
  }

  /** Says something to whoever is the owner now. */
  sayToAll(message: TabMessage): void {
    this.#far.post(undefined, 0, message);
  }

  /** Says something to its own worker. */
  tell(message: TabMessage): void {
    this.#near.post(undefined, this.term, message);
  }

  /** The next message of a kind that was or will be heard from now on; each is given once. */
  async next<K extends OwnerMessage["kind"]>(
    kind: K,
    fits: (message: Said<K>) => boolean = () => true,
  ): Promise<Said<K>> {
    const isIt = (message: OwnerMessage) =>
      message.kind === kind && fits(message as Said<K>);
    while (!this.heard.some(isIt)) {
      const news = Promise.withResolvers<void>();
      this.#listeners.add(news.resolve);
      const timer = setTimeout(() => {
        const kinds = this.heard.map((message) => message.kind).join();
        news.reject(new Error(`${this.id} heard no ${kind}, but ${kinds}`));
      }, HANGS_MS);
      try {
        await news.promise;
      } finally {
        clearTimeout(timer);
        this.#listeners.delete(news.resolve);
      }
    }
    const at = this.heard.findIndex(isIt);
    const [message] = this.heard.splice(at, 1);
    return message as Said<K>;
  }

  /** How many messages of a kind are there that nobody took. */
  count(kind: OwnerMessage["kind"]): number {
    return this.heard.filter((message) => message.kind === kind).length;
  }

  /** Opens a repository for the first time. */
  async repository(name = "tree"): Promise<RawRepository> {
    const welcome = await this.next("welcome");
    return await this.openWith(welcome, name);
  }

  /** As {@linkcode repository}, after a welcome that was taken. */
  async openWith(welcome: Welcome, name = "tree"): Promise<RawRepository> {
    const call = ++calls;
    this.say({ kind: "open", call, repository: name });
    const opened = await this.next("opened", (said) => said.call === call);
    return await RawRepository.over(this, welcome, opened);
  }
}

/** A repository of a raw tab. */
export class RawRepository {
  readonly replica: Replica;
  readonly name: string;
  readonly opened: Opened;
  readonly #tab: RawTab;
  readonly #editor: Editor<typeof Leaf>;
  /** What it has of its owner's log. */
  at: LogPoint | undefined;
  /** The chain of what it wrote last. */
  chain = "";
  #seq = 0;
  /** Where in its log each write ends that was flushed. */
  readonly #ends: number[] = [];
  /** Up to where in its log its owner has everything. */
  #known = 0;
  /** Where in its log what was shipped ends. */
  readonly #shipped = new Map<number, number>();

  private constructor(tab: RawTab, opened: Opened, replica: Replica) {
    this.#tab = tab;
    this.opened = opened;
    this.name = opened.repository;
    this.at = opened.at;
    this.replica = replica;
    const table = replica.state.table(Leaf.name);
    this.#editor = new Editor(Leaf, table, new IdSource(tab.page.world));
  }

  /** Opens a replica over an image. */
  static async over(
    tab: RawTab,
    { rootKey, mode, session }: Welcome,
    opened: Opened,
  ): Promise<RawRepository> {
    const name = parseRepositoryName(opened.repository);
    const folder = `${REPOSITORIES}/${folderOf(name)}`;
    const files: [string, Uint8Array][] = [];
    for (const { name, bytes } of opened.image ?? []) {
      const content = bytes instanceof Blob
        ? new Uint8Array(await bytes.arrayBuffer())
        : bytes;
      files.push([`${folder}/${name}`, content]);
    }
    const { user, certificate, others } = session;
    const { key, publicKey } = session;
    const signer = signerOf(key as SessionKey["secret"], publicKey);
    const view = createView(Leaf);
    const replica = await Replica.open({
      door: servingDoor,
      storage: memoryStorage(files),
      world: tab.page.world,
      name,
      mode,
      isModeRequired: false,
      rootKey,
      session: { user, signer, certificate, others },
      isOriginal: true,
      viewOf: () => view,
      repair: false,
      settle: () => Promise.resolve(),
      lent: { chain: opened.chain, lastId: opened.lastId },
    });
    return new RawRepository(tab, opened, replica);
  }

  /** Writes one item, here only. */
  put(id: string, title: string, isFlushed = true): void {
    const { commit } = this.replica.transact((tx) => {
      this.#editor.upsert(tx, { id, title });
    });
    this.chain = commit!.chain;
    if (!isFlushed) return;
    this.replica.flush();
    this.#ends.push(this.replica.loaded.log.end);
  }

  /** Ships what was not shipped; says its number. `forge` changes the seals of its batches. */
  ship(forge?: (seal: Uint8Array) => void): number {
    const shipment = this.replica.device.outgoing!
      .take(this.replica.loaded.log.sealed, Infinity);
    const records = shipment?.records ?? [];
    for (const { bytes } of records) forge?.(bytes.subarray(-SEAL_BYTES));
    const seq = ++this.#seq;
    if (shipment !== undefined) this.#shipped.set(seq, shipment.to);
    this.#tab.say({ kind: "write", repository: this.name, seq, records });
    return seq;
  }

  /** Ships what its owner lacks, whoever wrote it, and waits until it is there for good. */
  async resend(known: Opened["known"]): Promise<void> {
    const records = this.replica.device.lackedBy(new Map(known));
    const seq = ++this.#seq;
    this.#tab.say({ kind: "write", repository: this.name, seq, records });
    await this.#tab.next("acknowledged", (said) => said.seq >= seq);
  }

  /** Its owner has everything up to a number for good: so many flushed writes. */
  acknowledged(seq: number): number {
    for (const [shipped, to] of this.#shipped) {
      if (shipped > seq) break;
      this.replica.device.outgoing!.acknowledged(to);
      this.#shipped.delete(shipped);
      this.#known = to;
    }
    const open = this.#ends.findIndex((end) => end > this.#known);
    return open < 0 ? this.#ends.length : open;
  }

  /** Ships everything and waits until the owner has it for good. */
  async settle(): Promise<void> {
    this.replica.flush();
    await this.replica.loaded.log.sync(); // All seals are there.
    const seq = this.ship();
    await this.#tab.next("acknowledged", (said) => said.seq >= seq);
    this.acknowledged(seq);
  }

  /** Writes one item and waits until the owner has it for good. */
  async write(id: string, title: string): Promise<void> {
    this.put(id, title);
    await this.settle();
  }

  /** Goes on with its owner, or with another one. */
  async again(): Promise<Opened> {
    const call = ++calls;
    this.#tab.say({
      kind: "open",
      call,
      repository: this.name,
      at: this.at,
      ...this.chain !== "" && { chain: this.chain },
    });
    const opened = await this.#tab.next("opened", (said) => said.call === call);
    this.at = opened.at;
    this.replica.device.outgoing!.again();
    return opened;
  }

  /** Takes records that its owner sent. */
  async read(): Promise<void> {
    const { name } = this;
    const said = await this.#tab.next(
      "records",
      ({ repository }) => repository === name,
    );
    this.take(said);
  }

  /** Takes records. */
  take({ records, next }: Said<"records">): void {
    this.replica.device.follow(records);
    this.at = next;
  }

  /** How many items have an id that begins so. */
  count(prefix: string): number {
    const { table } = this.#editor;
    return table.ids().filter((id) => id.startsWith(prefix)).length;
  }

  /** The title of an item. */
  get(id: string): string | undefined {
    return this.#editor.table.cellOf(id)?.item?.["title"] as string | undefined;
  }
}
