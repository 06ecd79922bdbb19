/**
 * A client that will be killed, or whose server will be: it writes as fast as
 * its promises are kept, and notes each of them in its ledgers.
 *
 * Orders, one a line: first a `ClientOrder`; then `rest`: write no more and tell
 * when everything has arrived; `audit`: everybody rests, compare; `go`: write
 * again; `status`: tell how it is; the end: close.
 *
 * @module
 */

import {
  type Connection,
  type Database,
  DatabaseError,
  openDatabase,
  type Repository,
  type Write,
} from "../../mod.ts";
import { pause, until } from "../kit/patience.ts";
import { seededRandom } from "../kit/random.ts";
import {
  brokenIn,
  type ClientOrder,
  Entry,
  Ledger,
  type Line,
  linesOf,
  readLedger,
  REPOSITORY,
  SHARED,
  Shared,
  sharedId,
  tell,
  textOf,
} from "./words.ts";

/** Writes that the server does not have yet, at most. */
const OPEN_MAX = 128;
/** An app that knows better than the backoff tries again so soon. */
const RETRY_MS = 40;
/** Audits until a difference is one. */
const AUDITS = 100;
const AUDIT_EVERY_MS = 100;

class Writer {
  readonly #order: ClientOrder;
  readonly #repo: Repository;
  readonly #random: () => number;
  readonly #durable: Ledger;
  readonly #synced: Ledger;
  #heard = Promise.withResolvers<void>();
  #isStopping = false;
  #running: Promise<void> = Promise.resolve();
  #written = 0;
  /** How many writes the server does not have. */
  open = 0;
  /** When it wrote last. */
  lastMs = 0;

  constructor(order: ClientOrder, repo: Repository) {
    this.#order = order;
    this.#repo = repo;
    this.#random = seededRandom(order.seed * 1_000 + order.run);
    this.#durable = new Ledger(`${order.ledger}.durable`);
    this.#synced = new Ledger(`${order.ledger}.synced`);
  }

  /** Begins to write. */
  go(): void {
    this.#isStopping = false;
    this.#running = this.#run();
  }

  /** Ends to write; resolves when everything is synced. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#heard.resolve();
    await this.#running;
    while (this.open > 0) await this.#hear();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const last = this.#burst(1 + Math.floor(this.#random() * 4));
      if (this.#random() < 0.5) await last;
      await pause(this.#random() * 10);
      while (this.open >= OPEN_MAX && !this.#isStopping) await this.#hear();
    }
  }

  async #hear(): Promise<void> {
    await this.#heard.promise;
    this.#heard = Promise.withResolvers<void>();
  }

  #burst(length: number): Write<unknown> {
    let write = this.#write();
    for (let i = 1; i < length; i++) write = this.#write();
    return write;
  }

  #write(): Write<unknown> {
    const { name, run, writes } = this.#order;
    const id = `${name}-${run}-${this.#written++}`;
    this.lastMs = Date.now();
    const shared = sharedId(Math.floor(this.#random() * SHARED));
    const isShared = writes === "shared" &&
      this.#repo.collection(Shared).has(shared);
    if (!isShared) {
      return this.#random() < 0.1 ? this.#passing(id) : this.#lone(id);
    }
    return this.#random() < 0.4
      ? this.#pair(id, shared)
      : this.#tag(id, shared);
  }

  #lone(id: string): Write<unknown> {
    const write = this.#repo.collection(Entry).create({ id, text: textOf(id) });
    return this.#watch(write, `entry ${id}`);
  }

  /** Created, and deleted by the next commit. */
  #passing(id: string): Write<unknown> {
    this.#repo.collection(Entry).create({ id, text: textOf(id) });
    return this.#watch(this.#repo.collection(Entry).delete(id), `gone ${id}`);
  }

  #tag(id: string, shared: string): Write<unknown> {
    const write = this.#repo.collection(Shared).update(shared, {
      last: id,
      votes: { increment: 1 },
      tags: { add: [id] },
    });
    return this.#watch(write, `tag ${id} ${shared}`);
  }

  #pair(id: string, shared: string): Write<unknown> {
    const twin = `${id}-twin`;
    const write = this.#repo.transact((tx) => {
      const entries = tx.collection(Entry);
      entries.create({ id, text: textOf(id), twin });
      const change = { votes: { increment: 1 }, tags: { add: [id] } };
      tx.collection(Shared).update(shared, change);
      entries.create({ id: twin, text: textOf(twin), twin: id });
    });
    return this.#watch(write, `pair ${id} ${shared}`);
  }

  /** Notes promises as they are kept. A promise that is broken ends the process. */
  #watch(write: Write<unknown>, line: Line): Write<unknown> {
    this.open++;
    void write.durable.then(() => this.#durable.note(line));
    void write.synced.then(() => {
      this.#synced.note(line);
      this.open--;
      this.#heard.resolve();
    });
    return write;
  }
}

/** What was promised before this process, and is not in its own folder; asked before anybody else could bring it. */
async function lostHere(
  { ledger, mode }: ClientOrder,
  repo: Repository,
): Promise<Line[]> {
  if (mode === "fast") return [];
  return brokenIn(repo, await readLedger(`${ledger}.durable`));
}

function comeBackSoon(connection: Connection): void {
  connection.subscribe(() => {
    if (connection.status.state !== "offline") return;
    setTimeout(() => connection.retry(), RETRY_MS);
  });
}

/** What nobody expects is told at once: who tells may be killed. */
function watchTrouble({ sync }: Repository): void {
  let incidents = 0;
  sync.subscribe(() => {
    const { status } = sync;
    const news = status.incidents.slice(incidents);
    incidents = status.incidents.length;
    for (const one of [...news, ...status.refusals]) {
      tell({ is: "log", level: "error", text: textOfAny(one) });
    }
  });
}

/** Tells when the server has everything, and a witness has said so. */
async function rest(writer: Writer, { sync }: Repository): Promise<void> {
  await writer.stop();
  const isEqual = () => (sync.status.equalAt?.getTime() ?? 0) >= writer.lastMs;
  await until(() => isQuiet(sync) && isEqual(), "it rests", Infinity); // Whoever asked has a limit.
  tell({ is: "rested" });
}

function isQuiet({ status }: Repository["sync"]): boolean {
  return status.state === "live" && status.unsent.commits === 0;
}

/** Tells what differs; what others wrote last may be on its way. */
async function compare({ sync }: Repository): Promise<void> {
  let difference: string | undefined;
  for (let i = 0; i < AUDITS && difference !== ""; i++) {
    if (i > 0) await pause(AUDIT_EVERY_MS);
    if (isQuiet(sync)) difference = await differenceNow(sync) ?? difference;
  }
  difference ??= textOfAny(sync.status);
  tell({ is: "settled", difference });
}

/** Empty when there is none; `undefined` when the connection ended meanwhile. */
async function differenceNow(
  sync: Repository["sync"],
): Promise<string | undefined> {
  try {
    const report = await sync.audit();
    return report.equal ? "" : textOfAny(report);
  } catch (error) {
    if (error instanceof DatabaseError && error.code === "unreachable") {
      return undefined;
    }
    throw error;
  }
}

/** For whoever waits in vain. */
function describe(db: Database, { sync }: Repository, writer: Writer): string {
  const { open, lastMs } = writer;
  const wrote = new Date(lastMs).toISOString();
  return textOfAny([db.connection?.status, sync.status, { open, wrote }]);
}

function textOfAny(value: unknown): string {
  return Deno.inspect(value, { depth: 5, breakLength: Infinity });
}

async function obey(
  order: ClientOrder,
  lines: AsyncIterable<string>,
): Promise<void> {
  const { path, mode, rootKey } = order;
  const schemas = [Entry, Shared];
  const db = await openDatabase({ path, mode, rootKey, schemas });
  const repo = await db.repository(REPOSITORY);
  tell({ is: "opened", lost: await lostHere(order, repo) });
  const writer = new Writer(order, repo);
  watchTrouble(repo);
  comeBackSoon(db.connect(order.url, { session: { anonymous: true } }));
  writer.go();
  for await (const line of lines) {
    if (line === "go") writer.go();
    else if (line === "rest") void rest(writer, repo);
    else if (line === "audit") void compare(repo);
    else tell({ is: "status", text: describe(db, repo, writer) });
  }
  await writer.stop();
  await db.close();
  tell({ is: "over" });
}

tell({ is: "warm" });
const lines = linesOf(Deno.stdin.readable);
const { value, done } = await lines.next();
if (!done) await obey(JSON.parse(value), lines);
