/**
 * Live results over a whole database: after every local write, transaction over
 * two collections, foreign commit and reopening they equal what a filter and a
 * sort over all items say; and what callbacks hear leads from one to the next.
 */

import { servingDoor } from "../repo/admission/serving_door.ts";
import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import {
  type Collection,
  count,
  defineSchema,
  field,
  type Infer,
  type LiveChange,
  type Repository as RepositoryType,
  sum,
} from "../mod.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import { issueCertificate } from "../repo/commit/certificate.ts";
import { parseRepositoryName } from "../repo/commit/genesis.ts";
import { recordKind } from "../repo/log/format.ts";
import { Replica } from "../repo/replica.ts";
import { wallMax } from "../src/base/hlc.ts";
import { Repository } from "../src/db/repository.ts";
import { RepositoryLink } from "../src/db/repository_link.ts";
import { Schemas } from "../src/db/schemas.ts";
import { restored, seededRandom, shuffle } from "./kit/mod.ts";
import { steadyWorld } from "./kit/small_database.ts";
import { sized } from "./kit/tier.ts";

const Author = defineSchema("author", { name: field.string() });

const Post = defineSchema("post", {
  title: field.string(),
  rank: field.number().default(0),
  open: field.boolean().default(true),
  author: field.ref("author"),
}, { indexes: [["open", "rank"]] });

type Post = Infer<typeof Post>;

const root = generateKeyPair(steadyWorld(1).random);
const name = parseRepositoryName("live");

/** A device: the repository that a user holds, and its replica to feed. */
class Device {
  readonly #world;
  readonly #session;
  readonly #storage = restored([]);
  replica!: Replica;
  repo!: RepositoryType;
  posts!: Collection<typeof Post>;
  authors!: Collection<typeof Author>;
  #check: (() => void)[] = [];

  constructor(seed: number) {
    this.#world = steadyWorld(seed);
    const { publicKey, secretKey } = generateKeyPair(this.#world.random);
    const user = `user-${seed}`;
    const { bytes: certificate } = issueCertificate({
      sessionKey: publicKey,
      user,
      claims: "{}",
      mayIssue: false,
      notBefore: 0,
      notAfter: wallMax,
    }, createSigner(root.secretKey));
    this.#session = { user, signer: createSigner(secretKey), certificate };
  }

  async open(): Promise<this> {
    const schemas = new Schemas([Author, Post]);
    const world = this.#world;
    const storage = this.#storage;
    this.replica = await Replica.open({
      door: servingDoor,
      storage,
      world,
      name,
      mode: "default",
      isModeRequired: true,
      rootKey: root.publicKey,
      session: this.#session,
      isOriginal: true,
      viewOf: (collection) => schemas.viewOf(collection),
      repair: false,
      settle: () => Promise.resolve(),
    });
    this.repo = new Repository({
      replica: this.replica,
      schemas,
      world,
      hooks: {},
      link: new RepositoryLink({ replica: this.replica, storage, world }),
      closing: () => {},
    });
    this.posts = this.repo.collection(Post);
    this.authors = this.repo.collection(Author);
    this.#watch();
    return this;
  }

  async reopen(): Promise<void> {
    await this.repo.close();
    await this.open();
  }

  /** Opens the live queries; each checks itself against plain code. */
  #watch(): void {
    const { posts, authors } = this;
    this.#check = [];
    const byRank = (a: Post, b: Post) => b.rank - a.rank || compare(a, b);
    const top = posts.where({ open: true }).orderBy("rank", "desc");
    this.#follows(
      (callback) => top.limit(3).subscribe(callback),
      () => posts.all().filter(({ open }) => open).sort(byRank).slice(0, 3),
    );
    this.#follows(
      (callback) => top.offset(2).limit(2).subscribe(callback),
      () => posts.all().filter(({ open }) => open).sort(byRank).slice(2, 4),
    );
    this.#follows(
      (callback) => posts.where(({ title }) => title < "b").subscribe(callback),
      () => posts.all().filter(({ title }) => title < "b").sort(compare),
    );
    this.#follows(
      (callback) =>
        posts.where({ rank: { gte: 2 } }).include({ author: Author })
          .subscribe(callback),
      () =>
        posts.all().filter(({ rank }) => rank >= 2).sort(compare)
          .map((post) => ({ ...post, author: authors.get(post.author) })),
    );
    this.#follows(
      (callback) =>
        posts.where({ open: true }).groupBy("author")
          .aggregate({ posts: count(), ranks: sum("rank") })
          .subscribe(callback),
      () => groups(posts.all().filter(({ open }) => open)),
      true,
    );
  }

  /** Compares the live rows, and the rows that changes add up to, with `naive`. */
  #follows<Row>(
    subscribe: (callback: (change: LiveChange<Row>) => void) => {
      readonly rows: readonly Row[];
    },
    naive: () => unknown[],
    isUnordered = false,
  ): void {
    let heard: readonly Row[] | undefined;
    let told: [unknown[], unknown[]] = [[], []];
    const live = subscribe(({ rows }) => {
      heard = rows;
      // Both collections already are where the transaction left them.
      told = [sorted(rows), sorted(naive())];
    });
    const sorted = (rows: readonly unknown[]) =>
      isUnordered ? rows.map((row) => JSON.stringify(row)).sort() : [...rows];
    let before = live.rows;
    this.#check.push(() => {
      deepEqual(told[0], told[1], "inside the callback");
      deepEqual(sorted(live.rows), sorted(naive()));
      if (live.rows !== before) equal(heard, live.rows, "a change was told");
      before = live.rows;
    });
  }

  check(): void {
    for (const check of this.#check) check();
  }

  /** Everything in its log, as it would travel. */
  async records(): Promise<Arrival[]> {
    await this.repo.durable();
    const arrivals: Arrival[] = [];
    const { log } = this.replica.loaded;
    log.records(0, log.end, (kind, body) => {
      const bytes = body.slice();
      if (kind === recordKind.certificate) {
        arrivals.unshift({ kind: recordKind.certificate, bytes });
      } else if (kind === recordKind.signedBatch) {
        arrivals.push({ kind: recordKind.signedBatch, bytes });
      }
    });
    return arrivals;
  }
}

function compare(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

function groups(posts: Post[]) {
  const found = new Map<string, { posts: number; ranks: number }>();
  for (const { author, rank } of posts) {
    const { posts, ranks } = found.get(author) ?? { posts: 0, ranks: 0 };
    found.set(author, { posts: posts + 1, ranks: ranks + rank });
  }
  return [...found].map(([author, all]) => ({ author, ...all }));
}

/** One random write: few ids, so that devices and queries meet on them. */
function write({ repo, posts, authors }: Device, random: () => number): void {
  const pick = (count: number) => Math.floor(random() * count);
  const id = `post-${pick(8)}`;
  const author = `author-${pick(3)}`;
  const values = {
    title: "abc"[pick(3)]!,
    rank: pick(5),
    open: random() < 0.7,
    author,
  };
  const dice = random();
  if (dice < 0.4) posts.upsert({ id, ...values });
  else if (dice < 0.55 && posts.has(id)) posts.delete(id);
  else if (dice < 0.65) authors.upsert({ id: author, name: values.title });
  else if (dice < 0.7 && authors.has(author)) authors.delete(author);
  else {
    repo.transact((tx) => {
      tx.collection(Author).upsert({ id: author, name: values.title });
      for (const { id } of posts.where({ author }).run()) {
        tx.collection(Post).update(id, { rank: values.rank });
      }
      tx.collection(Post).upsert({ id, ...values });
    });
  }
}

/** Two devices write, send each other everything in any order, and reopen. */
async function run(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const devices = [
    await new Device(seed * 2).open(),
    await new Device(seed * 2 + 1).open(),
  ];
  for (let step = 0; step < 60; step++) {
    const [device, other] = shuffle([...devices], random);
    const dice = random();
    if (dice < 0.8) write(device!, random);
    else if (dice < 0.85) await device!.repo.durable();
    else if (dice < 0.9) await device!.repo.checkpoint();
    else if (dice < 0.94) await device!.reopen();
    else await send(device!, other!, random);
    for (const each of devices) each.check();
  }
  for (const [from, to] of [devices, devices.toReversed()]) {
    await send(from!, to!, random);
  }
  const [one, two] = devices.map((device) => device.posts.all().sort(compare));
  deepEqual(one, two);
  for (const device of devices) {
    device.check();
    await device.repo.close();
  }
}

async function send(
  from: Device,
  to: Device,
  random: () => number,
): Promise<void> {
  const records = await from.records();
  const certificates = records.filter(({ kind }) =>
    kind === recordKind.certificate
  );
  const batches = records.filter(({ kind }) => kind !== recordKind.certificate);
  const arrivals = [...certificates, ...shuffle(batches, random)];
  while (arrivals.length > 0) {
    const some = arrivals.splice(0, 1 + Math.floor(random() * 4));
    for (const { verdict } of to.replica.receive(some)) {
      ok(verdict.verdict !== "refuse", JSON.stringify(verdict));
    }
    to.check();
  }
}

Deno.test("live results equal a filter and a sort over local writes, transactions, foreign commits and reopenings", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), run),
    { seed: 11, numRuns: sized(10, 250) },
  );
});
