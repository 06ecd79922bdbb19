/**
 * A gate judges by its order of acceptance, as a replay of that order from
 * nothing does; what it let in every replica takes, in any order of arrival and
 * batching (law 7); and what a device that knows everything lets its own user
 * write is what the gate lets in.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Judged } from "../repo/admit.ts";
import type { Arrival } from "../repo/arrival.ts";
import { decodeBatch } from "../repo/batch.ts";
import type { Revocation } from "../repo/revocation.ts";
import { DatabaseError } from "../src/base/errors.ts";
import type { WriteRules } from "../src/schema/rule_types.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import { seededRandom, shuffle } from "./kit/mod.ts";
import { Card, NaiveOrder, NextCard, RuledDevice } from "./kit/ruled_device.ts";
import { sized } from "./kit/tier.ts";

type Random = () => number;
type CardRules = Required<WriteRules<typeof Card>>;

const words = ["ash", "birch", "cedar"];

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** Rules that look at everything a rule may look at. */
function randomRules(random: Random): Rules {
  const limit = Math.floor(random() * 8);
  const word = pick(random, words);
  return defineRules({
    "team/{team}": {
      collections: [rulesFor(Card, {
        create: pick<CardRules["create"]>(random, [
          () => true,
          () => true,
          ({ after, session }) => after.owner === session.user || "not yours",
          ({ after }) => after.title !== word,
          ({ changed, params }) => changed.length > 2 && params.team === "acme",
          ({ get }) => get(Card, `card-${limit % 4}`)?.rank !== limit % 5,
        ]),
        update: pick<CardRules["update"]>(random, [
          () => true,
          ({ before, session }) => before.owner === session.user,
          ({ before, after }) => after.rank >= before.rank || "rank goes up",
          ({ after }) => after.votes <= limit * 2,
          ({ changed }) => !changed.includes("owner"),
          ({ before, after }) => before.tags.length <= after.tags.length,
          ({ after }) => {
            if (after.rank === limit) throw new Error(`rank ${limit}`);
            return true;
          },
          ({ session }) => session.claims.role === "editor" || "editors only",
          ({ get, session }) =>
            get(Card, `card-${limit % 4}`)?.owner === session.user,
          ({ get, getAfter, after }) =>
            (getAfter(Card, `card-${limit % 4}`)?.votes ?? 0) <= limit * 2 ||
            get(Card, after.id) === undefined,
        ]),
        delete: pick<CardRules["delete"]>(random, [
          () => true,
          ({ before, session }) => before.owner === session.user,
          ({ before }) => before.votes < limit,
        ]),
      })],
    },
  });
}

/** One random transaction; ids are few, so that devices meet on them. */
function act(device: RuledDevice, random: Random): void {
  const { editor, replica } = device;
  const count = random() < 0.2 ? 2 : 1;
  const chosen = Array.from({ length: count }, () => ({
    id: `card-${Math.floor(random() * 4)}`,
    word: pick(random, words),
    n: Math.floor(random() * 5),
    what: random(),
    owner: `user-${Math.floor(random() * 4)}`,
  }));
  replica.transact((tx) => {
    for (const { id, word, n, what, owner } of chosen) {
      if (editor.get(tx, id) === undefined) {
        editor.create(tx, { id, title: word, rank: n, owner, tags: [word] });
      } else if (what < 0.15) editor.delete(tx, id);
      else if (what < 0.35) editor.update(tx, id, { rank: n });
      else if (what < 0.5) editor.update(tx, id, { owner });
      else if (what < 0.7) editor.update(tx, id, { votes: { increment: n } });
      else {
        const tags = what < 0.85 ? { add: [word] } : { remove: [word] };
        editor.update(tx, id, { tags });
      }
    }
  });
}

function batchesOf(arrivals: readonly Arrival[]): Arrival[] {
  return arrivals.filter(({ kind }) => kind === "signed");
}

/** Neighbouring batches of one chain under the last seal, cut anywhere. */
function joined(
  device: RuledDevice,
  random: Random,
  bytesMax = 3_000,
): Arrival[] {
  const port = device.replica.port();
  const records: Arrival[] = [];
  for (let at = 0; at < port.shareable;) {
    const slice = port.read(at, Math.floor(random() * bytesMax));
    for (const { kind, bytes } of slice.records) {
      if (kind === "signed") records.push({ kind, bytes });
    }
    if (slice.next === at) break;
    at = slice.next;
  }
  return records;
}

/** Verdicts as the naive order gives them; a chain that was refused has ended. */
function checkVerdicts(
  judged: readonly Judged[],
  order: NaiveOrder,
  ended: Set<string>,
  seed: number,
): void {
  for (const { verdict } of judged) {
    if (verdict.verdict === "admit") {
      equal(order.take(verdict.batch), undefined, `seed ${seed}: let in`);
    }
    if (verdict.verdict !== "refuse") continue;
    const { refused, number } = verdict.refusal;
    if (refused !== "denied") continue;
    const batch = deniedBatch(judged, verdict);
    equal(order.take(batch), number, `seed ${seed}: refused`);
    ended.add(batch.chain);
  }
}

function deniedBatch(judged: readonly Judged[], verdict: unknown) {
  const { arrival } = judged.find((one) => one.verdict === verdict)!;
  return decodeBatch(arrival.bytes, true);
}

async function runRules(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const rules = randomRules(random);
  const claims = '{"role":"editor"}';
  const writers = await Promise.all(
    [1, 2, 3, 4, 5].map((i) =>
      RuledDevice.open({
        seed: seed * 10 + i,
        claims: i === 1 ? claims : "{}",
        mayIssue: i === 5,
        reading: [Card, NextCard, null][i % 3]!,
      })
    ),
  );
  const gate = await RuledDevice.open({
    seed: seed * 10,
    rules,
    reading: null,
  });
  const order = new NaiveOrder(rules, gate);
  const revocations = random() < 0.5 ? revoke(writers.slice(0, 2), random) : [];
  const credentials = (): Arrival[] => [
    ...writers.flatMap((device) =>
      device.records().filter(({ kind }) => kind === "certificate")
    ),
    ...shuffle(revocations, random).map(({ bytes }): Arrival => ({
      kind: "revocation",
      bytes,
    })),
  ];
  gate.take(credentials());
  /** Chains that the gate has refused: their authors' business, not its. */
  const ended = new Set<string>();
  const isOpen = ({ bytes }: Arrival) =>
    !ended.has(decodeBatch(bytes, true).chain);

  for (let round = 0; round < 5; round++) {
    for (const device of writers) {
      for (let i = random() * 4; i > 0; i--) {
        act(device, random);
        if (random() < 0.6) device.replica.flush();
      }
      if (random() < 0.1) await device.reopen();
      const records = random() < 0.3 ? batchesOf(device.records()) : [];
      for (const record of records) {
        if (!isOpen(record)) continue;
        checkVerdicts(gate.accept([record]), order, ended, seed);
      }
    }
    if (random() < 0.2) await gate.replica.checkpoint();
    if (random() < 0.2) await gate.reopen(random() < 0.5 ? "log" : undefined);
    // Some hear what was accepted, and some what never will be.
    const [from, to] = shuffle(writers, random);
    const heard = random() < 0.7 ? gate : from!;
    to!.take([
      ...credentials(),
      ...shuffle(batchesOf(heard.records()), random),
    ]);
  }
  await actLawfully(gate, order, rules, credentials(), random, seed);
  await catchUp(seed, gate, credentials(), random);
  for (const device of [...writers, gate]) await device.replica.close();
}

/** Who has heard everything and obeys is refused nothing. */
async function actLawfully(
  gate: RuledDevice,
  order: NaiveOrder,
  rules: Rules,
  credentials: readonly Arrival[],
  random: Random,
  seed: number,
): Promise<void> {
  const device = await RuledDevice.open({ seed: seed * 10 + 7, rules });
  device.take([...credentials, ...batchesOf(gate.records())]);
  const own = device.records().filter(({ kind }) => kind === "certificate");
  gate.take(own);
  for (let i = 0; i < 12; i++) {
    const before = device.digests();
    try {
      act(device, random);
    } catch (error) {
      const isDenied = error instanceof DatabaseError &&
        error.code === "denied";
      ok(isDenied, String(error));
      deepEqual(device.digests(), before, "it leaves nothing behind");
    }
  }
  const judged = gate.accept(batchesOf(device.records()));
  checkVerdicts(judged, order, new Set(), seed);
  for (const { verdict } of judged) {
    ok(verdict.verdict !== "refuse", JSON.stringify(verdict));
  }
  deepEqual(device.digests(), gate.digests(), `seed ${seed}, lawful`);
  await device.replica.close();
}

/** A new device hears what the gate let in, in any order and ever longer batches. */
async function catchUp(
  seed: number,
  gate: RuledDevice,
  credentials: readonly Arrival[],
  random: Random,
): Promise<void> {
  await gate.replica.durable();
  const others = gate.records().filter(({ kind }) => kind === "certificate");
  for (const bytesMax of [500, 3_000, 1_000_000]) {
    const late = await RuledDevice.open({ seed: seed * 10 + 9 });
    late.take([...credentials, ...others]);
    const records = shuffle(joined(gate, random, bytesMax), random);
    for (const { verdict } of late.take(records)) {
      ok(verdict.verdict !== "refuse", JSON.stringify(verdict));
    }
    deepEqual(late.digests(), gate.digests(), `seed ${seed}, late`);
    await late.reopen("log");
    deepEqual(late.digests(), gate.digests(), `seed ${seed}, reopened`);
    await late.replica.close();
  }
}

/** Random cuts of incarnations that there will be, in one or two records each. */
function revoke(devices: readonly RuledDevice[], random: Random): Revocation[] {
  const revocations: Revocation[] = [];
  for (const device of devices) {
    if (random() < 0.4) continue;
    device.put("card-0", { title: "first", owner: device.user });
    const [chain] = device.replica.graph.vector().keys();
    for (let i = 0; i <= random() * 2; i++) {
      const count = Math.floor(random() * 6);
      const cuts = new Map([[chain!.slice(32), count]]);
      revocations.push(device.revoked(random() < 0.2 ? new Map() : cuts));
    }
  }
  return revocations;
}

Deno.test("RuleGate says what a replay of the order says, and everybody takes what it let in", async () => {
  const run = fc.asyncProperty(
    fc.integer({ min: 1, max: 1_000_000 }),
    (seed) => runRules(seed),
  );
  await fc.assert(run, {
    seed: 5,
    numRuns: sized(4, 120),
    endOnFailure: true,
  });
});
