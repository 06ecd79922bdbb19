/**
 * A gate that keeps constraints by indexes says what a scan of everything says,
 * after each commit; who was refused takes it back and goes on; and in the end,
 * whatever was refused, reopened or lost, everybody has the same, and nothing in
 * it is against a constraint.
 */

import { deepEqual, equal } from "node:assert/strict";
import fc from "fast-check";
import type { Judged } from "../repo/admit.ts";
import type { Arrival } from "../repo/arrival.ts";
import { type Batch, decodeBatch, payloadOf } from "../repo/batch.ts";
import type { RefusedEntry } from "../repo/mod.ts";
import { State } from "../repo/state.ts";
import { DatabaseError, type Refusal } from "../src/base/errors.ts";
import { Editor } from "../src/db/editor.ts";
import { field } from "../src/schema/field.ts";
import { IdSource } from "../src/schema/names.ts";
import type { Item, Operation, Value } from "../src/schema/patch.ts";
import { decodePatch } from "../src/schema/patch_codec.ts";
import { isHistory } from "../src/schema/cell.ts";
import { faultOf, kindFault } from "../src/schema/rule_write.ts";
import { defineSchema, type Schema } from "../src/schema/schema.ts";
import { createView } from "../src/schema/view.ts";
import { system } from "../src/base/system.ts";
import { Judge } from "../server/judge.ts";
import type { ChainEnds } from "../server/restore_report.ts";
import { ChainStaging, type StagingRestores } from "../server/staging.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import type { PeerSession } from "../sync/conversation.ts";
import { seededRandom, shuffle } from "./kit/mod.ts";
import { RuledDevice } from "./kit/ruled_device.ts";
import { sized } from "./kit/tier.ts";

type Random = () => number;

const User = defineSchema("user", {
  email: field.string().optional(),
  team: field.string().default("red"),
  rank: field.number().default(0),
  boss: field.ref("user").exists().optional(),
}, { unique: [["email"], ["team", "rank"]] });

const Post = defineSchema("post", {
  author: field.ref("user").exists(),
  readers: field.set(field.ref("user").exists()),
  left: field.counter().min(0).max(9),
});

const schemas: readonly Schema[] = [User, Post];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

const userIds = ["u0", "u1", "u2", "u3", "u4"];
const postIds = ["p0", "p1", "p2"];
const emails = ["a", "b", "c", "long ".repeat(30), undefined];

/** The state as the order of acceptance makes it, and a scan of all of it. */
class NaiveGate {
  readonly #state = new State(() => createView(undefined));
  readonly #lengths = new Map<string, number>();

  /** Takes a batch without asking. */
  take(view: Batch): void {
    this.#each(view, () => true);
  }

  /** The number of the first commit of a batch that may not be; accepts all of it otherwise. */
  judge(view: Batch): number | undefined {
    const draft = new NaiveGate();
    // States are folded into for good: a refused batch must leave nothing behind.
    for (const batch of this.#accepted) draft.take(batch);
    const refused = draft.#each(view, (operations, fold) => {
      const before = draft.wrong();
      return fold(operations) &&
        [...draft.wrong()].every(([what, excess]) =>
          excess <= (before.get(what) ?? 0)
        );
    });
    if (refused === undefined) this.take(view);
    return refused;
  }

  readonly #accepted: Batch[] = [];

  #each(
    view: Batch,
    mayBe: (
      operations: readonly Operation[],
      fold: (operations: readonly Operation[]) => boolean,
    ) => boolean,
  ): number | undefined {
    const batch = decodeBatch(view.bytes.slice(), true);
    const { chain, first, commits } = batch;
    const known = this.#lengths.get(chain) ?? 0;
    if (first + commits.length <= known) return undefined;
    for (let i = known - first; i < commits.length; i++) {
      const { wall, count } = commits[i]!;
      const origin = { wall, count, chain, operationsAt: -1 };
      const { operations } = decodePatch(payloadOf(batch, commits[i]!));
      let isFolded = false;
      const fold = () => {
        let isSound = true;
        for (const operation of operations) {
          isSound &&= this.#isSound(operation);
          this.#state.fold([operation], [-1], origin);
        }
        isFolded = true;
        return isSound;
      };
      if (!mayBe(operations, fold)) return first + i;
      if (!isFolded) fold();
    }
    this.#lengths.set(chain, first + commits.length);
    this.#accepted.push(batch);
    return undefined;
  }

  #isSound(operation: Operation): boolean {
    const { shape: { collection }, id } = operation;
    const schema = schemas.find(({ name }) => name === collection);
    const before = this.#state.cellOf(collection, id);
    return schema === undefined || isHistory(operation, before) ||
      (faultOf(operation, before) ?? kindFault(operation, schema)) ===
        undefined;
  }

  /** Of the whole state, as a replica has it. */
  digest(): string {
    return this.#state.digest().toHex();
  }

  /** Everything that is wrong, and by how much. */
  wrong(): Map<string, number> {
    return wrongIn(this.#state);
  }
}

function itemsOf(state: State, schema: Schema): Item[] {
  // As a reader sees them: with the schema's defaults.
  return (state.find(schema.name)?.items() ?? []).map((item) => ({
    ...schema.template,
    ...item,
  }));
}

/** Everything that is wrong in a state, found by looking at everything. */
function wrongIn(state: State): Map<string, number> {
  const wrong = new Map<string, number>();
  const users = itemsOf(state, User);
  const posts = itemsOf(state, Post);
  for (const fields of [["email"], ["team", "rank"]]) {
    for (const one of users) {
      for (const other of users) {
        const values = fields.map((name) => one[name]);
        const isSame = one.id < other.id &&
          fields.every((name, i) => other[name] === values[i]);
        if (!isSame || values.includes(undefined)) continue;
        wrong.set(`${one.id} ${other.id} ${JSON.stringify(values)}`, 1);
      }
    }
  }
  const names = (item: Item, name: string, value: Value) => {
    if (value === undefined || users.some(({ id }) => id === value)) return;
    wrong.set(`${item.id} ${name} ${JSON.stringify(value)}`, 1);
  };
  for (const user of users) names(user, "boss", user["boss"]);
  for (const post of posts) {
    names(post, "author", post["author"]);
    for (const reader of post["readers"] as Value[]) {
      names(post, "reader", reader);
    }
    const left = post["left"] as number;
    const excess = Math.max(0, -left, left - 9);
    if (excess > 0) wrong.set(`${post.id} left`, excess);
  }
  return wrong;
}

/** One random transaction; ids and values are few, so that devices meet on them. */
function act(device: RuledDevice, random: Random): void {
  const { replica } = device;
  const ids = new IdSource(system);
  const users = new Editor(User, replica.state.table("user"), ids);
  const posts = new Editor(Post, replica.state.table("post"), ids);
  const count = 1 + Math.floor(random() * 3);
  replica.transact((tx) => {
    for (let i = 0; i < count; i++) {
      const [user, other] = [pick(random, userIds), pick(random, userIds)];
      const what = random();
      if (what < 0.6) {
        const fields = {
          email: pick(random, emails),
          rank: Math.floor(random() * 4),
          boss: random() < 0.3 ? other : undefined,
          ...random() < 0.5 && { team: pick(random, ["red", "blue"]) },
        };
        if (users.get(tx, user) === undefined) {
          users.create(tx, { id: user, ...fields });
        } else if (what < 0.2) users.delete(tx, user);
        else users.update(tx, user, fields);
        continue;
      }
      const id = pick(random, postIds);
      if (posts.get(tx, id) === undefined) {
        posts.create(tx, { id, author: user, readers: [other], left: 3 });
      } else if (what < 0.7) posts.delete(tx, id);
      else if (what < 0.8) posts.update(tx, id, { author: user });
      else if (what < 0.9) {
        posts.update(tx, id, { readers: { add: [user], remove: [other] } });
      } else {
        const increment = Math.floor(random() * 9) - 4;
        posts.update(tx, id, { left: { increment } });
      }
    }
  });
}

/** What no honest program writes: parts of items, other kinds, other generations. */
function actBadly(device: RuledDevice, random: Random): void {
  const id = pick(random, userIds);
  const generation = Math.floor(random() * 3);
  const kind = pick(random, ["string", "enum", "set", "json"] as const);
  const value = kind === "set" ? ["a"] : pick(random, ["a", "b"]);
  const name = { name: "email", kind };
  const shape = { collection: "user", version: 1, fields: [name] };
  const common = { shape, id, generation };
  const change = kind === "set"
    ? { what: "add", values: ["a"] } as const
    : { what: "set", value } as const;
  const operation = pick<Operation>(random, [
    { ...common, what: "create", item: Object.freeze({ id, email: value }) },
    { ...common, what: "update", changes: [{ field: name, change }] },
    { ...common, what: "delete" },
  ]);
  const { replica } = device;
  replica.transact((tx) => {
    const table = replica.state.table("user");
    tx.put(table, operation, tx.cellOf(table, id));
  });
}

/** Everything that a device may hand in, neighbours joined up to so many bytes. */
async function recordsOf(
  device: RuledDevice,
  bytesMax: number,
): Promise<Arrival[]> {
  await device.replica.durable();
  const port = device.replica.port();
  const records: Arrival[] = [];
  for (let at = 0; at < port.shareable;) {
    const { records: read, next } = port.read(at, bytesMax);
    for (const { kind, bytes } of read) {
      if (kind === "signed") records.push({ kind, bytes });
    }
    if (next === at) break;
    at = next;
  }
  return records;
}

/** One run: writers, a gate, and what it had accepted before it lost its disk. */
class Run {
  readonly seed: number;
  readonly random: Random;
  readonly naive = new NaiveGate();
  writers: RuledDevice[] = [];
  gate!: RuledDevice;
  #judge!: Judge;
  readonly #lost = new Map<string, ChainEnd>();
  readonly #proved = new Map<string, ChainEnds>();
  readonly #restores: StagingRestores = {
    accepted: (_, chain, count = 0) =>
      this.#proved.get(chain)?.get(count) ?? this.#lost.get(chain),
    isAwaited: () => this.#isAwaited(),
    prove: (_, chain, ends) => this.#proved.set(chain, ends),
    cameBack: () => {},
  };
  #gates = 0;

  constructor(seed: number) {
    this.seed = seed;
    this.random = seededRandom(seed);
  }

  async open(): Promise<void> {
    const { seed, random } = this;
    const count = 3 + Math.floor(random() * 3);
    this.writers = await Promise.all(
      Array.from({ length: count }, (_, i) =>
        RuledDevice.open({
          seed: seed * 100 + i,
          reading: null,
          mayIssue: i === 1,
          // The last one knows of no constraint, and some read without a schema.
          schemas: i === count - 1 ? [] : schemas,
          views: i % 2 === 0 ? schemas : [],
        })),
    );
    await this.newGate();
  }

  /** An empty server, that is told what the one before it had accepted. */
  async newGate(): Promise<void> {
    const { seed, random } = this;
    if (this.gate !== undefined) {
      await this.gate.replica.durable();
      const ends = chainEndsOf(this.gate.replica.port().summary()!);
      // It may not have had everything back itself.
      for (const [chain, end] of ends) {
        const known = this.#lost.get(chain)?.count ?? 0;
        if (end.count > known) this.#lost.set(chain, end);
      }
      await this.gate.replica.close();
    }
    const gate = this.gate = await RuledDevice.open({
      seed: seed * 100 + 50 + this.#gates++,
      reading: null,
      schemas,
      views: random() < 0.5 ? schemas : [],
    });
    for (const device of this.writers) {
      gate.take(device.records().filter(({ kind }) => kind === "certificate"));
    }
    this.#proved.clear();
    this.#judge = new Judge({
      rules: undefined,
      restores: this.#restores,
      world: { now: () => 1_900_000_000_000 },
      log: { write: () => {} },
    });
  }

  #isAwaited(): boolean {
    const { graph } = this.gate.replica;
    return [...this.#lost].some(([chain, { count }]) =>
      graph.lengthOf(chain) < count
    );
  }

  /** Hands in what a device has; what is refused it takes back and, maybe, writes again. */
  async handIn(device: RuledDevice): Promise<void> {
    for (let again = true; again;) {
      again = false;
      const { replica } = this.gate;
      const session = { key: device.key, mayIssue: false } as PeerSession;
      // What was accepted, and is awaited, comes without what was not.
      const bytesMax = this.#isAwaited() ? 0 : 2_000;
      const staging = new ChainStaging(replica, this.#restores);
      for (const record of await recordsOf(device, bytesMax)) {
        const judged = replica.receive(staging.take(record), {
          gate: (...asked) => this.#judge.judge(replica, session, ...asked),
        });
        for (const one of judged) this.#compare(one);
        const [digest] = this.gate.digests();
        if (!this.#isAwaited()) {
          equal(this.naive.digest(), digest, `seed ${this.seed}`);
        }
        // What waited for it is its author's business, who comes again.
        const own = judged.find(({ arrival }) => arrival === record);
        if (own === undefined) continue; // It waits for the rest of its chain.
        const { verdict } = own;
        if (verdict.verdict !== "refuse") continue;
        if (verdict.refusal.refused === "restoring") continue;
        const { chain } = decodeBatch(record.bytes, true);
        this.#takeBack(device, chain, verdict.refusal);
        again = true;
        break;
      }
    }
  }

  /** What was accepted before it was lost the order has already. */
  #compare({ arrival, verdict }: Judged): void {
    const batch = () => decodeBatch(arrival.bytes.slice(), true);
    if (verdict.verdict === "admit") {
      equal(this.naive.judge(batch()), undefined, `seed ${this.seed}: let in`);
    }
    if (verdict.verdict !== "refuse") return;
    const { refused, number } = verdict.refusal;
    // What is asked before constraints is not this test's business; `denied` is a generation that was skipped.
    const before = ["restoring", "wrong-kind", "unknown-name", "denied"];
    if (before.includes(refused)) return;
    equal(refused, "constraint");
    equal(this.naive.judge(batch()), number, `seed ${this.seed}: refused`);
  }

  #takeBack(device: RuledDevice, chain: string, refusal: Refusal): void {
    const { refused: reason, rule = "", detail = "" } = refusal;
    const number = refusal.number!;
    const { replica } = device;
    replica.withdraw(chain, number, [
      { number, reason, rule, detail, kept: false },
    ]);
    const [entry] = replica.refusals() as RefusedEntry[];
    if (entry === undefined || this.random() < 0.3) return;
    if (this.random() < 0.5) void replica.discard(entry);
    else this.attempt(() => replica.retry(entry), device);
  }

  /** Writes something, which leaves nothing behind where a constraint says no. */
  attempt(write: () => void, device: RuledDevice): void {
    const before = device.digests();
    try {
      write();
    } catch (error) {
      // Who writes badly gets in his own way.
      const codes = device === this.writers.at(-1)
        ? ["constraint", "invalid-schema"]
        : ["constraint"];
      const isCoded = error instanceof DatabaseError &&
        codes.includes(error.code);
      if (!isCoded) throw error;
      deepEqual(device.digests(), before, "it leaves nothing behind");
    }
  }

  /** A device hears what was accepted. */
  async hear(device: RuledDevice): Promise<void> {
    await this.gate.replica.durable();
    const credentials = [this.gate, ...this.writers].flatMap((one) =>
      one.records().filter(({ kind }) => kind === "certificate")
    );
    const records = shuffle(await recordsOf(this.gate, 2_000), this.random);
    for (const { verdict } of device.take([...credentials, ...records])) {
      equal(verdict.verdict === "refuse" && verdict.refusal, false);
    }
  }

  /** Do the indexes of a device list what a scan finds? */
  checkIndexes(device: RuledDevice): void {
    const { state, loaded: { constraints } } = device.replica;
    if (constraints === undefined) return;
    const listed = schemas.flatMap(({ name }) => constraints.violations(name));
    const scanned = wrongIn(state);
    equal(listed.length > 0, scanned.size > 0, `seed ${this.seed}: indexes`);
    // Of values that two have in common each of both is listed.
    const named = new Set(listed.map(({ id }) => id));
    for (const what of scanned.keys()) {
      equal(named.has(what.split(" ")[0]!), true, `seed ${this.seed}: ${what}`);
    }
  }

  async round(): Promise<void> {
    const { random, writers, gate } = this;
    for (const device of writers) {
      for (let i = random() * 4; i > 0; i--) {
        const isBad = device === writers.at(-1) && random() < 0.4;
        this.attempt(() => (isBad ? actBadly : act)(device, random), device);
        if (random() < 0.5) device.replica.flush();
      }
      this.checkIndexes(device);
      if (random() < 0.15) {
        await device.reopen(random() < 0.5 ? "log" : undefined);
      }
      if (random() < 0.6) await this.handIn(device);
      if (random() < 0.4) await this.hear(pick(random, writers));
    }
    this.checkIndexes(gate);
    if (random() < 0.2) await gate.replica.checkpoint();
    if (random() < 0.2) await gate.reopen(random() < 0.5 ? "log" : undefined);
    if (random() < 0.15) await this.newGate();
  }

  /** Everybody hands in all and hears all. */
  async settle(): Promise<void> {
    for (let i = 0; i < 2; i++) {
      for (const device of this.writers) await this.handIn(device);
    }
    for (const device of this.writers) {
      await this.hear(device);
      deepEqual(
        device.digests()[0],
        this.gate.digests()[0],
        `seed ${this.seed}`,
      );
    }
  }

  async close(): Promise<void> {
    for (const device of [...this.writers, this.gate]) {
      await device.replica.close();
    }
  }
}

async function runConstraints(seed: number): Promise<void> {
  const run = new Run(seed);
  await run.open();
  for (let round = 0; round < 6; round++) await run.round();
  await run.settle();
  for (const device of [...run.writers, run.gate]) {
    deepEqual([...wrongIn(device.replica.state).keys()], [], `seed ${seed}`);
    run.checkIndexes(device);
  }
  await run.close();
}

Deno.test("constraints: the gate says what a scan of everything says, and they hold in every replica's state", async () => {
  const run = fc.asyncProperty(
    fc.integer({ min: 1, max: 1_000_000 }),
    (seed) => runConstraints(seed),
  );
  await fc.assert(run, {
    seed: 5,
    numRuns: sized(6, 300),
    endOnFailure: true,
  });
});
