/**
 * The stage of tests that kill processes: starts them, hears them, kills them,
 * and looks into the folders that they leave.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import {
  type Database,
  memoryStorage,
  type Mode,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import { replicaOf } from "../../src/db/internals.ts";
import { Child as Process } from "../kit/child.ts";
import { within } from "../kit/patience.ts";
import {
  brokenIn,
  type ClientOrder,
  Entry,
  readLedger,
  REPOSITORY,
  type ServerOrder,
  SHARED,
  Shared,
  sharedId,
  textOf,
  type Told,
} from "./words.ts";

type Kind = Told["is"];
type ToldAs<K extends Kind> = Extract<Told, { is: K }>;

/** A process of ours. */
export class Child {
  /** What it told that nobody expects. */
  readonly log: string[] = [];
  readonly #process: Process;
  readonly #told: Told[] = [];
  readonly #reading: Promise<void>;
  #heard = Promise.withResolvers<void>();
  #isOver = false;

  private constructor(script: string) {
    const { href } = new URL(script, import.meta.url);
    const args = ["run", "--no-check", "--allow-all", href];
    this.#process = new Process(args, { hasInput: true });
    this.#reading = this.#read();
  }

  /** Starts one that has its code loaded and waits for its order. */
  static async warm(script: string, born: (child: Child) => void) {
    const child = new Child(script);
    born(child);
    await child.next("warm");
    return child;
  }

  async #read(): Promise<void> {
    for await (const line of this.#process.lines()) {
      const told: Told = JSON.parse(line);
      if (told.is === "log") this.log.push(told.text);
      else this.#told.push(told);
      this.#wake();
    }
    this.#isOver = true;
    this.#wake();
  }

  #wake(): void {
    this.#heard.resolve();
    this.#heard = Promise.withResolvers();
  }

  /** The next thing it tells of a kind. */
  async next<K extends Kind>(kind: K): Promise<ToldAs<K>> {
    while (true) {
      const at = this.#told.findIndex(({ is }) => is === kind);
      if (at >= 0) return this.#told.splice(at, 1)[0] as ToldAs<K>;
      if (this.#isOver) {
        const report = this.#process.report();
        throw new Error(`It ended before it said "${kind}". ${report}`);
      }
      await this.#heard.promise;
    }
  }

  /** Says a line. */
  async say(line: string): Promise<void> {
    await this.#process.write(`${line}\n`);
  }

  /** Kills it, at whatever it does; one that ended by itself is told of. */
  async kill(): Promise<void> {
    if (this.#process.hasEnded) this.log.push(this.#process.report());
    this.#process.kill();
    await this.#process.ended;
    await this.#reading;
  }

  /** Lets it end well. */
  async end(): Promise<void> {
    await this.#process.closeInput();
    await this.#process.endsWell(/"is":"over"/);
    await this.#reading;
  }
}

/** Has the next process of a script ready. */
class Nursery {
  readonly #script: string;
  readonly #born: (child: Child) => void;
  #next: Promise<Child>;

  constructor(script: string, born: (child: Child) => void) {
    this.#script = script;
    this.#born = born;
    this.#next = this.#warm();
  }

  #warm(): Promise<Child> {
    const child = Child.warm(this.#script, this.#born);
    child.catch(() => {}); // Who takes it hears it.
    return child;
  }

  async take(): Promise<Child> {
    const child = await this.#next;
    this.#next = this.#warm();
    return child;
  }
}

/** A database that is looked at. */
interface Look {
  readonly db: Database;
  readonly repo: Repository;
}

/** One server, its clients, and their folders. */
export class Stage implements AsyncDisposable {
  readonly mode: Mode;
  readonly folder: string;
  readonly seed: number;
  /** What servers warned of, and incidents and refusals of clients. */
  readonly trouble: string[] = [];
  readonly #children = new Set<Child>();
  readonly #servers: Nursery;
  readonly #clients: Nursery;
  readonly #runs = new Map<string, number>();
  #isOver = false;
  #server: Child | undefined;
  url = "";
  rootKey = "";

  constructor(mode: Mode, seed: number) {
    this.mode = mode;
    this.folder = Deno.makeTempDirSync();
    this.seed = seed;
    const born = (child: Child) => {
      this.#children.add(child);
      if (this.#isOver) void child.kill();
    };
    this.#servers = new Nursery("server.ts", born);
    this.#clients = new Nursery("client.ts", born);
  }

  /** Starts a server, and gives it the shared items. */
  async set(): Promise<void> {
    await this.startServer();
    const { db, repo } = await this.newcomer();
    const shared = repo.collection(Shared);
    const numbers = Array.from({ length: SHARED }, (_, number) => number);
    await Promise.all(
      numbers.map((number) =>
        shared.create({ id: sharedId(number), last: "" }).synced
      ),
    );
    await db.close();
  }

  /** Folder of the server. */
  get data(): string {
    return `${this.folder}/server`;
  }

  /** Starts a server where the last one was, and waits until it listens. */
  async startServer(): Promise<void> {
    const server = await this.orderServer();
    const { url, rootKey } = await server.next("listening");
    this.url = url;
    this.rootKey = rootKey;
  }

  /** Starts a server, and does not wait. */
  async orderServer(): Promise<Child> {
    const server = await this.#servers.take();
    const { data, mode } = this;
    const port = Number(new URL(this.url || "http://127.0.0.1:0").port);
    const rootKeyFile = `${this.folder}/root.key`;
    const order: ServerOrder = { data, mode, port, rootKeyFile };
    this.#server = server;
    await server.say(JSON.stringify(order));
    return server;
  }

  /** Pulls the server's plug. */
  async killServer(): Promise<void> {
    await this.reap(this.#server!);
  }

  /** Kills a process. */
  async reap(child: Child): Promise<void> {
    await child.kill();
    this.trouble.push(...child.log);
    this.#children.delete(child);
  }

  /** Lets a process end well. */
  async end(child: Child): Promise<void> {
    await child.end();
    this.trouble.push(...child.log);
    this.#children.delete(child);
  }

  /** Lets the server end well. */
  async endServer(): Promise<void> {
    await this.end(this.#server!);
  }

  /** How many commits the server knows to be missing. */
  async missing(): Promise<number> {
    await this.#server!.say("?");
    return (await this.#server!.next("restoring")).missing;
  }

  /** Starts a client of a name, for the first time or once more. */
  async startClient(
    name: string,
    writes: ClientOrder["writes"],
  ): Promise<Child> {
    const client = await this.#clients.take();
    const run = this.#runs.get(name) ?? 0;
    this.#runs.set(name, run + 1);
    const { mode, url, rootKey, seed } = this;
    const path = `${this.folder}/${name}`;
    const ledger = this.#ledger(name);
    const order = { name, path, ledger, mode, url, rootKey, writes, seed, run };
    await client.say(JSON.stringify(order satisfies ClientOrder));
    return client;
  }

  #ledger(name: string): string {
    return `${this.folder}/ledger-${name}`;
  }

  /** How many bytes of promises that the server has their writes there are. */
  async promised(): Promise<number> {
    this.#check();
    let bytes = 0;
    for (const name of this.#runs.keys()) {
      const path = `${this.#ledger(name)}.synced`;
      bytes += (await Deno.stat(path).catch(() => undefined))?.size ?? 0;
    }
    return bytes;
  }

  /** Who waits for something waits no longer than there is a stage. */
  #check(): void {
    if (this.#isOver) throw new Error("It is over");
  }

  /** Checks what a killed server left, before anybody could bring it again. */
  async checkLeft(): Promise<void> {
    const copy = `${this.folder}/copy`;
    await copyFolder(this.data, copy);
    const look = await this.#look(copy);
    await checkOne("the killed server", look, await this.synced());
    await Deno.remove(copy, { recursive: true });
  }

  /** Every promise that the server has a write. */
  async synced(): Promise<string[]> {
    this.#check();
    const lines: string[] = [];
    for (const name of this.#runs.keys()) {
      lines.push(...await readLedger(`${this.#ledger(name)}.synced`));
    }
    return lines;
  }

  /** A client that has nothing yet, in this process. */
  async newcomer(): Promise<Look> {
    const { mode, rootKey } = this;
    const db = await openDatabase({
      storage: memoryStorage(),
      mode,
      rootKey,
      schemas: [Entry, Shared],
    });
    const repo = await db.repository(REPOSITORY);
    db.connect(this.url, { session: { anonymous: true } });
    await repo.sync.ready;
    return { db, repo };
  }

  /** A folder that no process holds any more. */
  async #look(path: string): Promise<Look> {
    const { mode } = this;
    const db = await openDatabase({ path, mode, schemas: [Entry, Shared] });
    return { db, repo: await db.repository(REPOSITORY) };
  }

  /**
   * All processes have written what they will: lets them come to rest, and
   * checks that every promise is kept by everybody, and that all are equal.
   */
  async checkAll(clients: ReadonlyMap<string, Child>): Promise<void> {
    await this.rest(clients);
    for (const [name, client] of clients) {
      await client.say("audit");
      const { difference } = await client.next("settled");
      equal(difference, "", `${name} and the server differ: ${difference}`);
    }
    const promises = await this.synced();
    for (const name of this.mode === "fast" ? [] : clients.keys()) {
      promises.push(...await readLedger(`${this.#ledger(name)}.durable`));
    }
    const newcomer = await this.newcomer();
    const whole = await checkOne("newcomer", newcomer, promises);
    for (const client of clients.values()) await this.end(client);
    await this.endServer();
    for (const name of ["server", ...clients.keys()]) {
      const look = await this.#look(`${this.folder}/${name}`);
      const here = await checkOne(name, look, promises);
      deepEqual(here.chains, whole.chains, `${name}: other commits`);
      equal(here.items, whole.items, `${name}: another state`);
    }
  }

  /** Resolves when the clients write no more, and the server has all of it. */
  async rest(clients: ReadonlyMap<string, Child>): Promise<void> {
    for (const client of clients.values()) await client.say("rest");
    for (const client of clients.values()) await client.next("rested");
  }

  /** How the clients are, for whoever waits in vain. */
  async describe(): Promise<string> {
    const texts = [...this.#children].map(async (child) => {
      await child.say("status");
      return (await child.next("status")).text;
    });
    const said = await Promise.allSettled(
      texts.map((text) => within(text, "what it does")),
    );
    return [
      `${this.#children.size} processes`,
      ...said.map((one) =>
        one.status === "fulfilled" ? one.value : String(one.reason)
      ),
    ].join("\n");
  }

  /** Ends all processes and removes all folders, whatever happened. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#children].map((child) => child.kill()));
    await Deno.remove(this.folder, { recursive: true });
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const copy = isDirectory ? copyFolder : Deno.copyFile;
    await copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Checks one replica, and closes it: promises, halves of transactions, counts, and every byte. */
async function checkOne(
  name: string,
  { db, repo }: Look,
  ledger: readonly string[],
): Promise<{ readonly chains: readonly string[]; readonly items: string }> {
  try {
    deepEqual(brokenIn(repo, ledger), [], `${name} lost what was promised`);
    const entries = repo.collection(Entry).where({}).orderBy("id").run();
    const shared = repo.collection(Shared).where({}).orderBy("id").run();
    const ids = new Map(entries.map((entry) => [entry.id, entry]));
    for (const { id, text, twin } of entries) {
      equal(text, textOf(id), `${name}: the text of ${id}`);
      if (twin !== undefined) equal(ids.get(twin)?.twin, id, `${name}: a half`);
    }
    const tagged = new Set(shared.flatMap(({ tags }) => tags));
    for (const { id, votes, tags } of shared) {
      equal(votes, tags.length, `${name}: ${id} counts each write once`);
    }
    for (const { id, twin } of entries) {
      const isWhole = twin === undefined || id.endsWith("-twin") ||
        tagged.has(id);
      equal(isWhole, true, `${name}: ${id} without its tag`);
    }
    const report = await repo.verify();
    equal(report.ok, true, `${name}: ${report.damage?.reason}`);
    equal(repo.status().recovery.quarantine, undefined);
    const chains = [...replicaOf(repo).graph.chains()]
      .map(({ name, length }) => `${escape(name)} ${length}`).sort();
    return {
      chains,
      items: JSON.stringify([entries, shared]),
    };
  } finally {
    await db.close();
  }
}
