/**
 * `deno run -A tests/corpus/make.ts`: writes the corpus anew, the same bytes each
 * time. What was published is never written anew: a later version must open it.
 *
 * @module
 */

import { createSigner, type Signer } from "../../crypto/mod.ts";
import { indexedDoor } from "../../repo/admission/serving_door.ts";
import { issueCertificate } from "../../repo/commit/certificate.ts";
import { parseRepositoryName } from "../../repo/commit/genesis.ts";
import { issueRevocation } from "../../repo/commit/revocation.ts";
import { retirementLayout } from "../../repo/commit/retirement.ts";
import { statementLayout } from "../../repo/commit/statement.ts";
import { recordKind } from "../../repo/log/format.ts";
import { chainBytes, type Position } from "../../repo/commit/commit.ts";
import { lateRefusing } from "../../repo/refusal/late_refusing.ts";
import { Replica } from "../../repo/replica.ts";
import type { Transaction } from "../../repo/write/transaction.ts";
import { encodeText } from "../../src/base/bytes.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { Editor } from "../../src/db/editor.ts";
import { Schemas } from "../../src/db/schemas.ts";
import { replicaOf } from "../../src/db/internals.ts";
import { IdSource } from "../../src/schema/names.ts";
import {
  defineSchema,
  field,
  memoryStorage,
  type Mode,
  type Repository,
} from "../../mod.ts";
import type { Done } from "../../repo/write/writer.ts";
import { refusedAt } from "../kit/author_place.ts";
import { type Files, filesOf } from "../kit/images.ts";
import { steadyWorld } from "../kit/small_database.ts";
import {
  folderOf,
  Leaf,
  modes,
  NAME,
  openCorpus,
  type Said,
  saidOf,
  storageOf,
  Twig,
} from "./corpus.ts";

/** Logs of a few kilobytes have segments, too. */
const SEGMENT_BYTES = 5_000;
const secretOf = (seed: number) => new Uint8Array(32).fill(seed);
const root = createSigner(secretOf(250));
/** The root certifies the hub, and that the shop. */
const hub = createSigner(secretOf(251));
const shop = createSigner(secretOf(252));
const DAY = 1_800_000_000_000;

interface Subject {
  readonly user: string;
  readonly issuer?: Signer;
  readonly mayIssue?: boolean;
  readonly from?: number;
  readonly to?: number;
}

function certify({ publicKey }: Pick<Signer, "publicKey">, said: Subject) {
  const { user, issuer = root, mayIssue = false, from = 0, to = wallMax } =
    said;
  const dates = { notBefore: from, notAfter: to };
  const claims = JSON.stringify({ of: user });
  return issueCertificate(
    { sessionKey: publicKey, user, claims, mayIssue, ...dates },
    issuer,
  ).bytes;
}

const hubSays = certify(hub, { user: "hub", mayIssue: true });
const shopSays = certify(shop, {
  ...{ user: "shop", issuer: hub, mayIssue: true },
  ...{ from: 1, to: DAY * 2 },
});

/** Leaves of an earlier version, in which two fields merged in another way. */
const OldLeaf = defineSchema("leaf", {
  name: field.string(),
  votes: field.number(),
  notes: field.string(),
  height: field.number(),
}, { version: 1 });

type Run = (
  tx: Transaction,
  leaves: Editor<typeof Leaf>,
  twigs: Editor<typeof Twig>,
) => void;

/** Somebody who writes. */
class Writer {
  readonly replica: Replica;
  readonly #leaves: Editor<typeof Leaf>;
  readonly #twigs: Editor<typeof Twig>;

  constructor(replica: Replica, seed: number) {
    this.replica = replica;
    const { state } = replica;
    const ids = new IdSource(steadyWorld(seed));
    this.#leaves = new Editor(Leaf, state.table(Leaf.name), ids);
    this.#twigs = new Editor(Twig, state.table(Twig.name), ids);
  }

  /** Somebody on another device. */
  static async open(mode: Mode, seed: number, said: Subject): Promise<Writer> {
    const signer = createSigner(secretOf(seed));
    const certificate = certify(signer, said);
    const others = [hubSays, shopSays];
    const schemas = new Schemas([Leaf, Twig]);
    const replica = await Replica.open({
      storage: memoryStorage(),
      world: steadyWorld(seed),
      session: { user: said.user, signer, certificate, others },
      mode,
      door: indexedDoor,
      name: parseRepositoryName(NAME),
      isModeRequired: true,
      rootKey: root.publicKey,
      isOriginal: true,
      viewOf: (collection) => schemas.viewOf(collection),
      repair: false,
      settle: () => Promise.resolve(),
    });
    return new Writer(replica, seed);
  }

  /** Writes one commit; those of one turn are one batch. */
  begin(run: Run): Done<void> {
    return this.replica.transact((tx) => run(tx, this.#leaves, this.#twigs));
  }

  /** Writes one commit; durable, and a batch of its own. */
  async write(run: Run): Promise<Position> {
    const done = this.begin(run);
    await done.durability.promise;
    return done.commit!;
  }

  /** Creates a leaf as an earlier version of the app does. */
  async writeOld(id: string, notes: string): Promise<void> {
    const { state } = this.replica;
    const ids = new IdSource(steadyWorld(7));
    const old = new Editor(OldLeaf, state.table(OldLeaf.name), ids);
    const done = this.replica.transact((tx) =>
      void old.create(tx, { id, name: "Old", votes: 1, notes, height: 9 })
    );
    await done.durability.promise;
  }

  /** Tells somebody everything that may be shared. */
  async tell({ replica }: Writer): Promise<void> {
    await this.replica.durable();
    const port = this.replica.port();
    await new Promise((resolve) => setTimeout(resolve, 0)); // Fast mode marks its log.
    const arrivals = port.credentials();
    for (let at = 0;;) {
      const { records, next } = port.read(at, 1 << 20);
      arrivals.push(...records);
      if (next === at) break;
      at = next;
    }
    const judged = replica.port().receive(arrivals);
    for (const { verdict } of judged) {
      if (verdict.verdict === "refuse") throw new Error(verdict.refusal.detail);
    }
    await replica.durable();
  }
}

/** What ada has before anybody else comes. */
async function begin(ada: Writer): Promise<void> {
  await ada.write((tx, leaves, twigs) => {
    twigs.create(tx, { id: "north", name: "North" });
    twigs.create(tx, { id: "süd", name: "Süd 🌳" });
    leaves.create(tx, { id: "bare" });
    leaves.create(tx, {
      id: "full",
      name: "Full",
      height: 3,
      alive: true,
      seen: new Date(1_234_567_890_123),
      data: new Uint8Array([0, 1, 254, 255]),
      color: "rød",
      extra: { deep: [1, null, { é: "ü", n: -0.5 }], t: true },
      twig: "north",
      votes: 5,
      tags: ["b", "a", "é", "🌱", "\uffee"],
      levels: [3, -2, 0.25, 2 ** 40],
      notes: { soil: "dry", ö: "x" },
      facts: { list: [1, 2], none: null, one: 1, text: "t" },
      steps: ["seed", "sprout", "leaf"],
      body: "Hello wörld",
    });
    const numbers = [0, 1, -1, 127, 128, 2 ** 53 - 1, 1 - 2 ** 53, 2 ** 60];
    for (const height of [...numbers, -(2 ** 53), 0.1, -1.5, 1e300, 5e-324]) {
      leaves.create(tx, { id: `height ${height}`, height, alive: height > 0 });
    }
    for (const [i, extra] of [null, "text", 0, true, [], {}].entries()) {
      leaves.create(tx, { id: `json ${i}`, extra, seen: new Date(-i) });
    }
    const steps = Array.from({ length: 70 }, (_, i) => `${i}`);
    leaves.create(tx, { id: "long", steps });
  });
  await ada.write((tx, leaves) => {
    leaves.create(tx, { id: "gone", name: "Gone", votes: 1 });
    leaves.create(tx, { id: "back", name: "First life", votes: 7 });
    leaves.create(tx, { id: "shared", name: "Shared", steps: ["1", "2", "3"] });
  });
}

/** Two create it who do not know of each other. */
function twin(
  tx: Transaction,
  leaves: Editor<typeof Leaf>,
  by: string,
  n: number,
): void {
  leaves.create(tx, {
    id: "twin",
    name: by,
    ...(n === 1 ? { height: 1 } : { alive: true }),
    votes: n,
    tags: [by, "both"],
    notes: { [by]: "1", both: by },
    steps: [by, "both"],
    body: "both",
  });
}

/** Each kind of change, by one writer; others do the same at the same time. */
async function change(
  writer: Writer,
  by: string,
  n: number,
): Promise<Position> {
  await writer.write((tx, leaves) => {
    leaves.update(tx, "shared", {
      name: `Shared by ${by}`,
      votes: { increment: n },
      tags: { add: [by, "both"] },
      levels: { add: [n, 99] },
      notes: { put: { [by]: "put", both: by } },
      facts: { put: { [by]: { n: [n] } } },
      steps: {
        insert: [{ at: 1, value: `by ${by}` }, { at: 0, value: by }],
        move: [{ from: 2, to: 0 }],
      },
      body: { splice: [{ at: 0, insert: `${by} wrote. ` }] },
    });
  });
  return await writer.write((tx, leaves) => {
    leaves.update(tx, "full", {
      height: n / 2,
      seen: new Date(n),
      data: new Uint8Array([n]),
      alive: undefined,
      extra: by,
      votes: { increment: -n },
      tags: { remove: ["a", "🌱"], add: ["c"] },
      notes: { drop: ["soil"], put: { ö: by } },
      steps: { delete: [0], replace: [{ at: 1, value: `${by}!` }] },
      body: { splice: [{ at: 0, delete: 2, insert: "J" }] },
    });
    leaves.update(tx, "shared", { tags: { remove: ["both"] } });
  });
}

/** What is said in the log that nobody here understands. */
function sayUnknown({ replica }: Writer, round: number): void {
  const { genesisId, log } = replica.loaded;
  const [kind, local] = [32 + round, 63 - round];
  const said = { genesisId, wall: DAY + round, content: encodeText("Né?") };
  if (replica.mode === "default") {
    const { bytes } = statementLayout(kind).sign(said, round > 1 ? root : hub);
    replica.port().receive([{ kind, bytes }]);
  } else {
    // Here they do not travel, nor do the certificates of who may speak.
    log.append(kind, [statementLayout(kind).sign(said, root).bytes]);
  }
  log.append(local, [Uint8Array.of(1, 2, 3, round)]);
}

/** The hub ends a session whose two commits stand. */
function revoke({ replica }: Writer, { chain }: Position): void {
  const { bytes } = issueRevocation({
    genesisId: replica.loaded.genesisId,
    sessionKey: Uint8Array.from(chain.slice(0, 32), (c) => c.charCodeAt(0)),
    cuts: new Map([[chain.slice(32), 2]]),
    wall: DAY,
    reason: "lost, süd",
  }, hub);
  if (replica.mode !== "default") return; // Nobody is judged there.
  replica.port().receive([{ kind: recordKind.revocation, bytes }]);
}

/** A chain is over, as its author says; another one never came here. */
function retire({ replica }: Writer, bob: Writer): void {
  if (replica.mode !== "default") return; // Nobody can say so there.
  const { genesisId, graph } = replica.loaded;
  const { chain } = bob.replica.device;
  const never = { incarnation: new Uint8Array(8).fill(255), commits: 300 };
  const incarnation = chainBytes(chain).slice(32);
  const ends = [{ incarnation, commits: graph.lengthOf(chain) }, never];
  const { bytes } = retirementLayout.sign(
    { genesisId, ends },
    createSigner(secretOf(2)),
  );
  replica.port().receive([{ kind: recordKind.retirement, bytes }]);
}

/** Commits of ada are refused; one is retried, one discarded, one stays refused. */
async function refuse(ada: Writer): Promise<void> {
  const ids = ["kept", "retried", "moved", "dropped", "waiting", "last"];
  const places = ids.map((id) =>
    ada.begin((tx, leaves) => {
      leaves.create(tx, { id, name: id, steps: [id], tags: [id] });
    }).commit!
  );
  await ada.replica.durable();
  await ada.write((tx, leaves) => {
    leaves.update(tx, "moved", { steps: { delete: [0] }, tags: [] });
  });
  const { chain, number } = places[1]!;
  const refused = [1, 3, 4].map((i) => refusedAt(places[i]!.number));
  ada.replica.refuse(chain, refused);
  ada.replica.cut([{ chain, from: number }]); // As when it cannot go on.
  await ada.replica.durable();
  const [retried, dropped] = ada.replica.refusals();
  await ada.replica.retry(retried!).durability.promise;
  await ada.replica.discard(dropped!);
  // And once more, all of the new chain.
  const { chain: next } = await ada.write((tx, leaves) =>
    void leaves.update(tx, "last", { votes: { increment: 2 } })
  );
  ada.replica.refuse(next, [refusedAt(1)]);
  ada.replica.cut([{ chain: next, from: 0 }]);
  // A chain that goes on.
  const voided = ada.begin((tx, leaves) =>
    void leaves.create(tx, { id: "void", name: "void", tags: ["void"] })
  ).commit!;
  await ada.write((tx, leaves) =>
    void leaves.update(tx, "last", { votes: { increment: 4 } })
  );
  ada.replica.refuse(voided.chain, [refusedAt(voided.number)]);
  await ada.replica.durable();
}

/** An item of which nothing is left but its name, and what says that. */
async function redact(ada: Writer): Promise<void> {
  const id = "erased";
  await ada.write((tx, leaves) => {
    leaves.create(tx, {
      ...{ id, name: "Süd 7", height: 1.5, extra: { at: "home" }, votes: 3 },
      ...{ tags: ["a"], notes: { at: "home" }, steps: ["1"], body: "Home" },
    });
    leaves.create(tx, { id: "beside", name: "Not erased", tags: ["b"] });
  });
  await ada.write((tx, leaves) => {
    leaves.update(tx, id, {
      ...{ name: "Süd 8", votes: { increment: 2 }, data: new Uint8Array(9) },
      tags: { add: ["c", "d"], remove: ["a"] },
      notes: { put: { at: "work", ö: "ä" }, drop: ["none"] },
      steps: { insert: [{ at: 1, value: "2" }] },
      body: { splice: [{ at: 0, insert: "My " }] },
    });
  });
  await ada.replica.redact([{ collection: Leaf.name, id }], root, "süd");
}

async function fill(repo: Repository, mode: Mode): Promise<void> {
  const ada = new Writer(replicaOf(repo), 1);
  await begin(ada);
  await ada.replica.serve(); // From now on there is an order.
  const bob = await Writer.open(mode, 2, {
    user: "bob",
    issuer: shop,
    from: 9,
    to: DAY + 9e6,
  });
  const zoë = await Writer.open(mode, 3, { user: "zoë", issuer: hub });
  for (const peer of [bob, zoë]) await ada.tell(peer);
  await Promise.all([change(bob, "bob", 3), change(ada, "ada", 4)]);
  const last = await change(zoë, "zoë", 5);
  await bob.write((tx, leaves) => twin(tx, leaves, "bob", 1));
  await ada.write((tx, leaves) => twin(tx, leaves, "ada", 2));
  await bob.writeOld("old", "by bob");
  await ada.write((tx, leaves) =>
    void leaves.create(tx, { id: "old", votes: 2, notes: { by: "ada" } })
  );
  await ada.write((tx, leaves) => {
    for (const id of ["gone", "back"]) leaves.delete(tx, id);
    leaves.create(tx, { id: "back", name: "Second life" });
  });
  await bob.write((tx, leaves) => {
    for (const id of ["gone", "back"]) {
      leaves.update(tx, id, { name: "late", votes: { increment: 100 } });
    }
  });
  await bob.tell(ada);
  sayUnknown(ada, 1);
  await repo.checkpoint();
  await zoë.tell(ada);
  revoke(ada, last);
  await ada.tell(bob);
  await change(bob, "bob again", 6);
  await refuse(ada);
  await redact(ada);
  await bob.tell(ada);
  retire(ada, bob);
  sayUnknown(ada, 8);
  await ada.write((tx, leaves) =>
    void leaves.update(tx, "bare", { height: 1 })
  );
}

/** A folder of this version, and what is to be read of it. */
export async function make(
  mode: Mode,
): Promise<{ files: Files; expected: Said }> {
  await lateRefusing.load();
  const { segmentBytesMax } = limits;
  try {
    Object.assign(limits, { segmentBytesMax: SEGMENT_BYTES });
    return await makeHere(mode);
  } finally {
    Object.assign(limits, { segmentBytesMax });
  }
}

async function makeHere(mode: Mode) {
  const storage = storageOf([]);
  const rootSecret = secretOf(250);
  const db = await openCorpus(storage, { mode, rootSecret, salt: true });
  const repo = await db.repository(NAME);
  await fill(repo, mode);
  const expected = saidOf(repo);
  // The log goes on behind the checkpoint that stays; two go without any.
  const isCheckpoint = ([name]: Files[number]) => name.includes("checkpoint-");
  const kept = mode === "default" ? filesOf(storage).filter(isCheckpoint) : [];
  await db.close();
  const files = filesOf(storage).filter((file) => !isCheckpoint(file));
  return { files: [...files, ...kept], expected };
}

async function write(mode: Mode): Promise<void> {
  const { files, expected } = await make(mode);
  const folder = folderOf(mode);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  let bytes = 0;
  for (const [name, content] of files) {
    const path = new URL(name, folder);
    await Deno.mkdir(new URL(".", path), { recursive: true });
    await Deno.writeFile(path, content);
    bytes += content.length;
    console.log(`${mode}/${name}: ${content.length} bytes`);
  }
  const text = `${JSON.stringify(expected, null, 2)}\n`;
  await Deno.writeTextFile(new URL("expected.json", folder), text);
  console.log(`${mode}: ${bytes} bytes, and ${text.length} expected`);
}

if (import.meta.main) { for (const mode of modes) await write(mode); }
