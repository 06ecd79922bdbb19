import { deepEqual, equal, ok } from "node:assert/strict";
import { checkGate } from "../repo/admission/admit.ts";
import type { Arrival, Gate, Verdict } from "../repo/admission/arrival.ts";
import { decodeBatch } from "../repo/commit/batch.ts";
import type { RefusedEntry } from "../repo/mod.ts";
import { issueRevocation } from "../repo/commit/revocation.ts";
import { sessionOf } from "../repo/admission/own_rules.ts";
import type { State } from "../repo/state/state.ts";
import { DatabaseError, type Refusal } from "../src/base/errors.ts";
import { showCell } from "../src/schema/rule_item.ts";
import type { Item } from "../src/schema/patch.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import { defineSchema, type Schema } from "../src/schema/schema.ts";
import { field } from "../src/schema/field.ts";
import { createView } from "../src/schema/view.ts";
import { Judge, type JudgeParts } from "../server/judge.ts";
import {
  type ChainEnds,
  ChainStaging,
  type StagingRestores,
} from "../server/restore_report.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import type { PeerSession } from "../sync/proof.ts";
import { seededRandom, shuffle } from "./kit/mod.ts";
import { rootSigner, RuledDevice } from "./kit/ruled_device.ts";
import { sized } from "./kit/tier.ts";
import {
  NaiveJudge,
  type PlainRuleSet,
  type PlainSession,
} from "./naive_judge.ts";
import { act, ids, pick, rawOperation } from "./random_writes.ts";
import { Forger, type Named } from "./forger.ts";
import {
  Board,
  constrained,
  Entry,
  Member,
  ruleSets,
  Task,
  wrongIn,
} from "./rule_sets.ts";
import { recordKind } from "../repo/log/format.ts";

/**
 * A gate with rules and constraints says what a plain judge says, commit by
 * commit: twenty sets of rules, five users, two of whom write what they like;
 * who was refused takes it back and goes on; devices and the gate are reopened,
 * the gate loses its disk and is told what it had accepted. In the end everybody
 * has the same, it is what the plain model has, and nothing in it is against a
 * constraint.
 */

type Random = () => number;

const startMs = 1_800_000_000_000;

/** The same collection as a later version of the app reads it. */
const NextTask = defineSchema("task", {
  ...Task.fields,
  rank: field.number().default(7),
  color: field.string().default("white"),
}, { version: 2 });

/** What happened, over all runs. */
const tally = { writes: 0, denied: 0, restores: 0, reopened: 0 };
const refusals = new Map<string, number>();

function compiled({ collections, others }: PlainRuleSet): Rules {
  return defineRules({
    "team/{team}": {
      others: others ?? false,
      collections: collections.map(({ schema, ...rules }) =>
        rulesFor(schema, rules as never)
      ),
    },
  });
}

const views = new Map(
  [Task, Board, Member, Entry].map((schema: Schema) => [
    schema,
    createView(schema),
  ]),
);

/** An item as its schema shows it, whatever view the state has. */
function itemIn(state: State, schema: Schema, id: string): Item | undefined {
  const cell = state.cellOf(schema.name, id);
  return cell?.item && showCell(cell, views.get(schema)!);
}

/** Items by name, each as one text. */
function shown(itemOf: (schema: Schema, id: string) => Item | undefined) {
  const all: Record<string, string> = {};
  for (const schema of [Task, Board, Member, Entry]) {
    for (const id of ids[schema.name as keyof typeof ids]) {
      const item = itemOf(schema, id);
      if (item === undefined) continue;
      const fields = Object.keys(item).sort().map((name) => {
        const value = item[name];
        const isBody = name === "body" && typeof value === "string";
        return [name, isBody ? [...value].sort().join("") : value];
      });
      all[`${schema.name} ${id}`] = JSON.stringify(fields);
    }
  }
  return all;
}

/** Everything that is wrong in a state. */
function scanOf(state: State): string[] {
  return wrongIn((schema) =>
    (state.find(schema.name)?.items() ?? []).map(({ id }) =>
      itemIn(state, schema, id)!
    )
  );
}

/** One run: five users, a gate, and what it had accepted before it lost its disk. */
class Run {
  readonly random: Random;
  readonly #seed: number;
  readonly #what: string;
  readonly #rules: Rules;
  readonly #naive: NaiveJudge;
  readonly #sessions = new Map<string, PlainSession>();
  readonly #lost = new Map<string, ChainEnd>();
  readonly #proved = new Map<string, ChainEnds>();
  readonly #restores: StagingRestores & JudgeParts["restores"] = {
    accepted: (_, chain, count = 0) =>
      this.#proved.get(chain)?.get(count) ?? this.#lost.get(chain),
    isAwaited: () => this.#isAwaited(),
    isUnknown: () => false,
    prove: (_, chain, ends) => this.#proved.set(chain, ends),
    cameBack: () => {},
  };
  readonly #known: Named[] = [];
  readonly #credentials: Arrival[] = [];
  devices: RuledDevice[] = [];
  #forger!: Forger;
  #gate!: RuledDevice;
  #judge!: Judge;
  #nowMs = startMs;
  /** By so much the clock of who writes anything is wrong. */
  #aheadMs = 0;
  #opened = 0;

  constructor(what: string, seed: number) {
    this.#what = `${what}, seed ${seed}`;
    this.#seed = seed;
    this.random = seededRandom(seed);
    const plain = ruleSets[what]!;
    this.#rules = compiled(plain);
    this.#naive = new NaiveJudge({
      ...{ rules: plain, wrongIn, constrained, sessions: this.#sessions },
    });
  }

  async #device(options: object): Promise<RuledDevice> {
    const seed = this.#seed * 20 + this.#opened++;
    const now = () => this.#nowMs;
    return await RuledDevice.open({ seed, reading: null, now, ...options });
  }

  async play(rounds: number): Promise<void> {
    try {
      await this.#open();
      for (let i = 0; i < rounds; i++) await this.#round();
      await this.#settle();
    } catch (error) {
      throw new Error(this.#what, { cause: error });
    }
  }

  async #open(): Promise<void> {
    const { random } = this;
    const views = [[Task, Board, Member], [NextTask, Board, Member]];
    const mayIssue = random() < 0.2;
    const honest = { rules: this.#rules, schemas: constrained };
    this.#aheadMs = pick(random, [0, 20_000, -86_400_000]);
    this.devices = await Promise.all([
      this.#device({
        ...{ ...honest, user: "user-0", claims: '{"role":"admin"}', mayIssue },
        views: views[0],
      }),
      this.#device({ ...honest, user: "user-1", views: views[0] }),
      // Offline for long; knows of no rule.
      this.#device({ user: "user-2", schemas: constrained, views: views[0] }),
      // Knows of nothing, and writes anything.
      this.#device({
        ...{ user: "user-3", views: pick(random, views) },
        now: () => this.#nowMs + this.#aheadMs,
      }),
    ]);
    for (const { replica, certificate } of this.devices) {
      this.#credentials.push({
        kind: recordKind.certificate,
        bytes: certificate,
      });
      ok(replica.loaded.genesisId);
    }
    const { genesisId } = this.devices[0]!.replica.loaded;
    const day = startMs - 86_400_000;
    const seed = this.#seed * 20 + 19;
    this.#forger = new Forger(seed, "user-4", genesisId, day);
    this.#credentials.push(this.#forger.certificate);
    await this.#openGate();
    const { certificates } = this.#gate.replica;
    for (const { key } of [...this.devices, this.#forger]) {
      const name = String.fromCharCode(...key);
      const [certificate] = certificates.of(name);
      this.#sessions.set(name, sessionOf(certificate!));
    }
  }

  async #openGate(): Promise<void> {
    this.#gate = await this.#device({
      schemas: constrained,
      views: this.random() < 0.5 ? [Task, Board, Member] : [],
    });
    this.#gate.take(this.#credentials);
    this.#proved.clear();
    this.#judge = new Judge({
      itemsOf: (replica) => replica.state,
      rules: this.#rules,
      restores: this.#restores,
      world: { now: () => this.#nowMs },
      log: { write: () => {} },
    });
  }

  #isAwaited(): boolean {
    const { graph } = this.#gate.replica;
    return [...this.#lost].some(([chain, { count }]) =>
      graph.lengthOf(chain) < count
    );
  }

  /** Asks the gate and the plain judge about what a session brings. */
  #gateFor(key: Uint8Array): Gate {
    const { replica } = this.#gate;
    const session = { key, mayIssue: false } as PeerSession;
    return (batch, from, patches) => {
      const said = checkGate(batch, this.#nowMs) ??
        this.#judge.judge(replica, session, batch, from, patches);
      if (said?.refused === "restoring") {
        ok(this.#isAwaited());
        return said;
      }
      const expected = this.#naive.judge(batch, this.#nowMs);
      const { refused, number } = said ?? {};
      deepEqual(said && { refused, number }, expected);
      if (said !== undefined) {
        refusals.set(said.refused, (refusals.get(said.refused) ?? 0) + 1);
      } else {
        const { chain, first } = batch;
        for (const [i, { wall, count }] of batch.commits.entries()) {
          if (i < from) continue;
          this.#known.push({ chain, number: first + i, wall, count });
        }
      }
      return said;
    };
  }

  /** What the gate says of a record; `undefined` while it waits for the rest of its chain. */
  #submit(
    key: Uint8Array,
    record: Arrival,
    staging = new ChainStaging(this.#gate.replica, this.#restores),
  ): Verdict | undefined {
    const gate = this.#gateFor(key);
    const judged = this.#gate.replica.receive(staging.take(record), { gate });
    return judged.find(({ arrival }) => arrival === record)?.verdict;
  }

  /** A device hands in all that it has; what is refused it takes back and, maybe, writes again. False where anything was. */
  async #handIn(device: RuledDevice): Promise<boolean> {
    let isWell = true;
    for (let again = true; again;) {
      again = false;
      const staging = new ChainStaging(this.#gate.replica, this.#restores);
      // What was accepted, and is awaited, comes without what was not.
      const bytesMax = this.#isAwaited() ? 0 : this.random() * 4_000;
      for (const record of await recordsOf(device, bytesMax)) {
        const verdict = this.#submit(device.key, record, staging);
        if (verdict?.verdict !== "refuse") continue;
        isWell = false;
        const { refusal } = verdict;
        // Its time will come; what stands on it waits for it.
        if (["early", "restoring"].includes(refusal.refused)) continue;
        const { chain } = decodeBatch(record.bytes, true);
        this.#takeBack(device, chain, refusal);
        again = true;
        break;
      }
    }
    return isWell;
  }

  #takeBack(device: RuledDevice, chain: string, refusal: Refusal): void {
    const { refused: reason, rule = "", detail = "" } = refusal;
    ok(
      refusal.number !== undefined,
      JSON.stringify(refusal),
    );
    const { number } = refusal;
    const { replica } = device;
    // He gave up what stands at the gate by others' units: it counts, and goes out anew.
    if (reason === "fork") {
      return replica.port().cut([{ chain, from: number }], "fork");
    }
    const told = { number, reason, rule, detail, kept: false };
    replica.refuse(chain, [told]);
    const [entry] = replica.refusals() as RefusedEntry[];
    if (entry === undefined || this.random() < 0.3) return;
    if (this.random() < 0.5) void replica.discard(entry);
    else this.#attempt(() => replica.retry(entry), device);
  }

  /** Writes something, which leaves nothing behind where it may not be. */
  #attempt(write: () => void, device: RuledDevice): void {
    const before = device.digests();
    tally.writes++;
    try {
      write();
    } catch (error) {
      // Who knows of no rule gets in his own way.
      const codes = ["denied", "constraint", "invalid-schema", "invalid-value"];
      const isCoded = error instanceof DatabaseError &&
        codes.includes(error.code);
      if (!isCoded) throw error;
      tally.denied++;
      deepEqual(device.digests(), before, "it leaves nothing behind");
    }
  }

  /** The forger hands in what he made; what is refused he leaves out. */
  #forge(): void {
    const { random } = this;
    for (let i = random() * 4; i > 0; i--) {
      tally.writes++;
      const { state } = this.#gate.replica;
      this.#forger.forge(random, state, this.#known, this.#nowMs);
    }
    for (;;) {
      const record = this.#forger.pending();
      if (record === undefined) return;
      const verdict = this.#submit(this.#forger.key, record);
      if (verdict?.verdict === "admit") return this.#forger.settle();
      ok(verdict?.verdict === "refuse");
      const { refused, number } = verdict.refusal;
      if (refused === "early" || refused === "restoring") return;
      this.#forger.drop(refused === "revoked" ? undefined : number);
      ok(refused !== "malformed", JSON.stringify(verdict));
    }
  }

  /** A device hears what was accepted, in any order. */
  async #hear(device: RuledDevice): Promise<void> {
    const { random } = this;
    await this.#gate.replica.durable();
    const records = await recordsOf(this.#gate, random() * 4_000);
    device.take([
      ...shuffle(this.#credentials.slice(), random),
      ...records.filter(({ kind }) => kind === recordKind.void),
      ...shuffle(records, random),
    ]).forEach(({ verdict }) => {
      equal(verdict.verdict === "refuse" && verdict.refusal, false);
    });
  }

  /** Do the indexes of a device list what a scan finds? */
  #checkIndexes({ replica: { state, loaded } }: RuledDevice): void {
    const { constraints } = loaded;
    if (constraints === undefined) return;
    const listed = constrained.flatMap(({ name }) =>
      constraints.violations(name)
    );
    equal(listed.length > 0, scanOf(state).length > 0);
  }

  async #round(): Promise<void> {
    const { random, devices } = this;
    this.#nowMs += Math.floor(random() * 12_000);
    for (const [i, device] of devices.entries()) {
      for (let left = random() * 3; left > 0; left--) {
        const isRaw = i === 3 && random() < 0.6;
        this.#attempt(
          () => isRaw ? this.#writeRaw(device) : act(device, random),
          device,
        );
        if (random() < 0.5) device.replica.flush();
      }
      if (random() < 0.1) await this.#reopen(device);
      if (random() < (i === 2 ? 0.2 : 0.7)) await this.#handIn(device);
      if (random() < (i > 1 ? 0.2 : 0.6)) await this.#hear(device);
      this.#checkIndexes(device);
    }
    if (random() < 0.8) this.#forge();
    if (random() < 0.2) await this.#gate.replica.checkpoint();
    if (random() < 0.15) await this.#reopen(this.#gate);
    if (random() < 0.06) await this.#restore();
    if (random() < 0.02) this.#revoke();
    this.#check(this.#gate);
  }

  async #reopen(device: RuledDevice): Promise<void> {
    tally.reopened++;
    await device.reopen(this.random() < 0.5 ? "log" : "checkpoint");
  }

  #writeRaw({ replica }: RuledDevice): void {
    const operation = rawOperation(this.random, replica.state, this.#nowMs);
    const table = replica.state.table(operation.shape.collection);
    replica.transact((tx) => {
      tx.put(table, operation, tx.cellOf(table, operation.id));
    });
  }

  /** The forger's session ends: what was accepted of it stands. */
  #revoke(): void {
    const { chain, length } = this.#forger;
    const cuts = new Map([[chain.slice(32), length]]);
    const { bytes } = issueRevocation({
      genesisId: this.#gate.replica.loaded.genesisId,
      sessionKey: this.#forger.key,
      ...{ cuts, wall: this.#nowMs, reason: "lost" },
    }, rootSigner);
    this.#credentials.push({ kind: recordKind.revocation, bytes });
    this.#gate.take(this.#credentials);
  }

  /** The gate loses its disk: everybody hands in what he has, in pieces, and new writes among them. */
  async #restore(): Promise<void> {
    tally.restores++;
    await this.#gate.replica.durable();
    const ends = chainEndsOf(this.#gate.replica.port().summary()!);
    for (const [chain, end] of ends) this.#lost.set(chain, end);
    await this.#gate.replica.close();
    await this.#openGate();
    const staging = new ChainStaging(this.#gate.replica, this.#restores);
    for (const record of this.#forger.accepted()) {
      this.#submit(this.#forger.key, record, staging);
    }
    for (let i = 0; i < 2; i++) {
      for (const device of shuffle(this.devices.slice(), this.random)) {
        await this.#handIn(device);
      }
    }
    equal(this.#isAwaited(), false);
  }

  /** Does a replica hold what the plain model holds, and nothing wrong? */
  #check({ replica: { state } }: RuledDevice): void {
    const model = this.#naive.state();
    deepEqual(
      shown((...asked) => itemIn(state, ...asked)),
      shown((schema, id) => model.show(schema.name, id, schema)),
    );
    deepEqual(scanOf(state), []);
  }

  /** Everybody hands in all and hears all; who obeys is then refused nothing. */
  async #settle(): Promise<void> {
    const { random, devices } = this;
    this.#nowMs += 100_000;
    this.#aheadMs = 0;
    for (let i = 0; i < 2; i++) {
      for (const device of devices) await this.#handIn(device);
    }
    for (const device of devices.slice(0, 2)) {
      await this.#hear(device);
      for (let i = 0; i < 3; i++) {
        this.#attempt(() => act(device, random), device);
      }
      ok(await this.#handIn(device));
    }
    const late = await this.#device({ schemas: constrained, views: [Task] });
    for (const device of [...devices, late]) {
      await this.#hear(device);
      if (random() < 0.5) await this.#reopen(device);
      this.#check(device);
      this.#checkIndexes(device);
      deepEqual(device.digests(), this.#gate.digests());
    }
    for (const device of [...devices, late, this.#gate]) {
      await device.replica.close();
    }
  }
}

/** Everything that a device may hand in, neighbours joined up to so many bytes. */
async function recordsOf(
  device: RuledDevice,
  bytesMax: number,
): Promise<Arrival[]> {
  await device.replica.durable();
  const port = device.replica.port();
  const records: Arrival[] = port.credentials().filter(({ kind }) =>
    kind === recordKind.void
  );
  for (let at = 0; at < port.shareable;) {
    const { records: read, next } = port.read(at, Math.floor(bytesMax));
    for (const { kind, bytes } of read) {
      if (kind === recordKind.signedBatch) records.push({ kind, bytes });
    }
    if (next === at) break;
    at = next;
  }
  return records;
}

for (const [i, what] of Object.keys(ruleSets).entries()) {
  Deno.test(`Judge says what a plain judge says: ${what}`, async () => {
    const writes = tally.writes + sized(60, 5_000);
    for (let seed = i * 1_000; tally.writes < writes; seed++) {
      await new Run(what, seed).play(sized(8, 25));
    }
    if (Deno.env.get("TALLY")) console.log(what, tally, refusals);
  });
}

Deno.test("Judge was asked for every refusal in these runs, after restarts and restores", () => {
  if (tally.writes === 0) return; // Only this one runs.
  deepEqual([...refusals.keys()].sort(), [
    "bad-clock",
    "constraint",
    "denied",
    "early",
    "kv-conflict",
    "unknown-name",
    "wrong-kind",
  ]);
  for (const [what, count] of Object.entries(tally)) ok(count > 0, what);
});
