/**
 * Rules and revocations give the same verdicts on every replica, in any order of
 * arrival and batching (law 7), and what a device lets its own user write is what
 * every other device lets in.
 */

import { deepEqual, ok } from "node:assert/strict";
import fc from "fast-check";
import type { Arrival } from "../repo/arrival.ts";
import type { Revocation } from "../repo/revocation.ts";
import { DatabaseError } from "../src/base/errors.ts";
import type { WriteRules } from "../src/schema/rule_types.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import { seededRandom, shuffle } from "./kit/mod.ts";
import {
  Card,
  lawfulVector,
  NextCard,
  RuledDevice,
} from "./kit/ruled_device.ts";
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
          ({ session, at }) =>
            session.claims.role === "editor" || at.getTime() % 3 !== 0,
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

/** As `act`, for devices that obey: what they may not do leaves nothing behind. */
function actLawfully(device: RuledDevice, random: Random): void {
  const before = device.digests();
  try {
    act(device, random);
  } catch (error) {
    ok(
      error instanceof DatabaseError && error.code === "denied",
      String(error),
    );
    deepEqual(device.digests(), before);
  }
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

async function runRules(seed: number): Promise<void> {
  const random = seededRandom(seed);
  const rules = randomRules(random);
  const claims = '{"role":"editor"}';
  const outlaws = await Promise.all(
    [1, 2].map((i) =>
      RuledDevice.open({ seed: seed * 10 + i, claims: i === 1 ? claims : "{}" })
    ),
  );
  const readings = [Card, NextCard, null];
  const lawful = await Promise.all(
    readings.map((reading, i) =>
      RuledDevice.open({ seed: seed * 10 + 3 + i, rules, reading })
    ),
  );
  const issuer = await RuledDevice.open({
    seed: seed * 10 + 7,
    mayIssue: true,
  });
  const all = await RuledDevice.open({ seed: seed * 10 + 8 });
  const writers = [...outlaws, issuer, ...lawful];
  const revocations = random() < 0.5 ? revoke(outlaws, random) : [];
  const credentials = (): Arrival[] => [
    ...writers.flatMap((device) =>
      device.records().filter(({ kind }) => kind === "certificate")
    ),
    ...shuffle(revocations, random).map(({ bytes }): Arrival => ({
      kind: "revocation",
      bytes,
    })),
  ];
  for (const device of lawful) device.take(credentials());

  for (let round = 0; round < 4; round++) {
    for (const device of outlaws) {
      for (let i = random() * 4; i > 0; i--) {
        act(device, random);
        if (random() < 0.6) device.replica.flush();
      }
    }
    if (random() < 0.5) act(issuer, random);
    for (const device of lawful) {
      if (random() < 0.6) actLawfully(device, random);
      if (random() < 0.1) await device.replica.checkpoint();
      if (random() < 0.1) await device.reopen();
    }
    const [from, to] = shuffle(writers, random);
    const records = shuffle(batchesOf(from!.records()), random);
    to!.take([...credentials(), ...records]);
  }

  // Everybody hears everything, in another order, cut otherwise, some of it twice.
  for (let pass = 0; pass < 3; pass++) {
    for (const to of shuffle(lawful, random)) {
      for (const from of writers) {
        await from.replica.durable();
        const records = batchesOf(from.records());
        const more = [...joined(from, random), ...records.slice(pass)];
        to.take([...credentials(), ...shuffle([...records, ...more], random)]);
      }
      if (random() < 0.2) await to.reopen();
    }
  }
  for (const from of writers) {
    all.take(credentials().filter(({ kind }) => kind === "certificate"));
    all.take(from.records().filter(({ kind }) => kind === "signed"));
  }
  const expected = lawfulVector(all.replica, rules, revocations);
  for (const device of lawful) {
    const vector = device.replica.graph.vector();
    deepEqual(plain(vector), plain(expected), `seed ${seed}`);
    deepEqual(device.digests(), lawful[0]!.digests(), `seed ${seed}`);
    await device.reopen();
    deepEqual(device.digests(), lawful[0]!.digests(), `seed ${seed}, reopened`);
  }
  await catchUp(seed, rules, lawful[0]!, credentials(), random);
  for (const device of [...writers, all]) await device.replica.close();
}

/** A new device hears what one replica admitted, in ever longer batches: all of it may be. */
async function catchUp(
  seed: number,
  rules: Rules,
  from: RuledDevice,
  credentials: Arrival[],
  random: Random,
): Promise<void> {
  await from.replica.durable();
  for (const bytesMax of [500, 3_000, 1_000_000]) {
    const late = await RuledDevice.open({ seed: seed * 10 + 9, rules });
    late.take(credentials);
    const records = shuffle(joined(from, random, bytesMax), random);
    for (const { verdict } of late.take(records)) {
      ok(verdict.verdict !== "refuse", JSON.stringify(verdict));
    }
    deepEqual(late.digests(), from.digests(), `seed ${seed}, late`);
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

function plain(vector: ReadonlyMap<string, number>): [string, number][] {
  return [...vector].filter(([, count]) => count > 0).sort(([a], [b]) =>
    a < b ? -1 : 1
  );
}

Deno.test("rules and revocations admit the same commits everywhere, in any order of arrival", async () => {
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
