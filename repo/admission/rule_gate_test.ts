import { deepEqual, equal, ok } from "node:assert/strict";
import {
  Card,
  RuledDevice,
  type RuledOptions,
} from "../../tests/kit/ruled_device.ts";
import { defineRules, type Rules, rulesFor } from "../../src/schema/rules.ts";
import type { WriteRules } from "../../src/schema/rule_types.ts";
import type { Arrival } from "./arrival.ts";
import { recordKind } from "../log/format.ts";

function rulesOf(rules: WriteRules<typeof Card>): Rules {
  const all = { create: () => true, update: () => true, delete: () => true };
  return defineRules({
    "team/{team}": { collections: [rulesFor(Card, { ...all, ...rules })] },
  });
}

function open(seed: number, more: Omit<RuledOptions, "seed"> = {}) {
  return RuledDevice.open({ seed, ...more });
}

/** The refusals of what a device sends, as number, reason and rule. */
function refused(to: RuledDevice, records: Arrival[]): unknown[] {
  return to.accept(records).flatMap(({ verdict }) => {
    if (verdict.verdict !== "refuse") return [];
    const { refused, number, rule, detail } = verdict.refusal;
    return [[refused, number, rule, detail]];
  });
}

Deno.test("RuleGate refuses a batch and says which commit, which rule and why", async () => {
  const rules = rulesOf({
    update: ({ after }) => after.rank < 3 || "too high",
  });
  const [ada, door] = [await open(1), await open(2, { rules })];
  for (const rank of [0, 1, 5, 2]) ada.put("x", { rank });
  deepEqual(refused(door, ada.records()), [
    ["denied", 2, "team/{team} card.update", "too high"],
  ]);
  equal(door.replica.graph.commits, 0);
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("a later commit of a batch sees what earlier ones did, and an operation those before it", async () => {
  const rules = rulesOf({
    update: ({ before, after }) => after.rank === before.rank + 1,
    delete: ({ before }) => before.rank === 3,
  });
  const [ada, door] = [await open(1), await open(2, { rules })];
  ada.put("x", { rank: 1 });
  ada.put("x", { rank: 2 });
  ada.replica.transact((tx) => {
    ada.editor.update(tx, "x", { rank: 3 });
    ada.editor.delete(tx, "x");
    ada.editor.create(tx, { id: "x", title: "again", rank: 8 });
    ada.editor.update(tx, "x", { rank: 9 });
  });
  deepEqual(refused(door, ada.records()), []);
  equal(door.get("x", "rank"), 9);
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("a rule sees the item as it is, not as its author saw it", async () => {
  const rules = rulesOf({
    update: ({ before, session }) => before.owner === session.user,
  });
  const [ada, bob] = [await open(1), await open(2)];
  const door = await open(3, { rules });
  ada.put("x", { owner: ada.user });
  bob.take(ada.records());
  bob.put("x", { title: "too early" }); // Not his yet, and judged when it is.
  ada.put("x", { owner: bob.user });
  deepEqual(refused(door, ada.records()), []);
  deepEqual(refused(door, bob.records()), []);
  equal(door.get("x", "title"), "too early");
  ada.put("x", { rank: 5 }); // She had the right at every parent that she names.
  equal(refused(door, ada.records()).length, 1);
  for (const device of [ada, bob, door]) await device.replica.close();
});

Deno.test("who creates what others have is asked for the right to change all of it", async () => {
  const rules = rulesOf({
    create: ({ after, session }) => after.owner === session.user,
    update: ({ before, session, changed }) =>
      before.owner === session.user || changed.join(),
    delete: ({ before, session }) => before.owner === session.user,
  });
  const [ada, eve, door] = [
    await open(1),
    await open(2),
    await open(3, { rules }),
  ];
  ada.put("x", { owner: ada.user, rank: 1 });
  deepEqual(refused(door, ada.records()), []);
  eve.put("x", { owner: eve.user }); // On a device that knows of nothing …
  eve.remove("x"); // … and then it is hers to delete.
  const [refusal] = refused(door, eve.records()) as [unknown[]];
  deepEqual(refusal, [
    "denied",
    0,
    "team/{team} card.update",
    "title,owner,rank,votes,tags",
  ]);
  deepEqual(door.get("x", "owner"), ada.user);
  for (const device of [ada, eve, door]) await device.replica.close();
});

Deno.test("what is meant for a generation that has ended is history, and changes nothing", async () => {
  const rules = rulesOf({ update: ({ after }) => after.rank < 5 });
  const [ada, bob] = [await open(1), await open(2)];
  const door = await open(3, { rules });
  ada.put("x", {});
  bob.take(ada.records());
  bob.put("y", {});
  bob.put("x", { rank: 9 });
  ada.remove("x");
  deepEqual(refused(door, ada.records()), []);
  deepEqual(refused(door, bob.records()), [], "it changes nothing");
  equal(door.get("x", "title"), undefined);
  ada.put("x", { title: "anew" });
  ada.put("x", { rank: 1 });
  deepEqual(refused(door, ada.records()), []);
  deepEqual(door.get("x", "title"), "anew");
  for (const device of [ada, bob, door]) await device.replica.close();
});

Deno.test("who may write nothing writes nothing to what was deleted either", async () => {
  const rules = rulesOf({
    create: ({ session }) => session.user !== "user-2",
    update: () => false,
    delete: ({ session }) => session.user !== "user-2",
  });
  const [ada, door] = [await open(1), await open(3, { rules })];
  ada.put("x", {});
  const born = ada.records();
  ada.remove("x");
  deepEqual(refused(door, ada.records()), []);
  const attacks: ((eve: RuledDevice) => void)[] = [
    (eve) => eve.put("x", { rank: 9 }),
    (eve) => eve.remove("x"),
    (eve) =>
      eve.replica.transact((tx) => {
        eve.editor.update(tx, "x", { rank: 9 });
        eve.editor.delete(tx, "x");
      }),
  ];
  const { end } = door.replica.loaded.log;
  for (const by of ["session", "relay"]) {
    for (const [i, attack] of attacks.entries()) {
      const eve = await open(2 + 4 * i);
      eve.take(born);
      attack(eve);
      const batches = eve.records().filter(({ kind }) =>
        kind === recordKind.signedBatch
      );
      const records = by === "session" ? eve.records() : batches.reverse();
      const [first] = refused(door, records) as [unknown[]];
      const rule = `team/{team} card.${i === 1 ? "delete" : "update"}`;
      deepEqual(first, ["denied", 0, rule, '"x" was deleted meanwhile']);
      await eve.replica.close();
    }
  }
  equal(door.replica.graph.size, 1);
  ok(door.replica.loaded.log.end - end < 2_000, "certificates alone");
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("who writes anything that is allowed may be late with the rest of it", async () => {
  const other = { collection: "note", version: 1, fields: [] };
  const all = { create: () => true, delete: () => true };
  const rules = defineRules({
    "team/{team}": { collections: [rulesFor(Card, all)], others: true },
  });
  const [ada, door] = [await open(1), await open(3, { rules })];
  ada.put("x", {});
  const born = ada.records();
  ada.remove("x");
  deepEqual(refused(door, ada.records()), []);
  const create = { what: "create", shape: other, generation: 0 } as const;
  const writes: ((bob: RuledDevice) => void)[] = [
    ({ replica, editor }) =>
      replica.transact((tx) => {
        editor.update(tx, "x", { rank: 9 });
        const notes = replica.state.table("note");
        tx.cellOf(notes, "n");
        tx.put(notes, { ...create, id: "n", item: { id: "n" } }, undefined);
      }),
    (bob) => {
      bob.put("y", {});
      bob.put("x", { rank: 9 });
    },
  ];
  for (const [i, write] of writes.entries()) {
    const bob = await open(2 + 4 * i);
    bob.take(born);
    write(bob);
    deepEqual(refused(door, bob.records()), []);
    await bob.replica.close();
  }
  for (const device of [ada, door]) await device.replica.close();
});

Deno.test("sessions that may issue certificates are not judged", async () => {
  const rules = rulesOf({ create: () => false });
  const [server, ada] = [
    await open(1, { mayIssue: true, rules }),
    await open(2),
  ];
  const door = await open(3, { rules });
  server.put("x", {});
  ada.put("y", {});
  deepEqual(refused(door, server.records()), []);
  equal(refused(door, ada.records()).length, 1);
  for (const device of [server, ada, door]) await device.replica.close();
});

Deno.test("the gate is asked once of what is sound and new, before rules, and never of the rest", async () => {
  const rules = rulesOf({ create: ({ after }) => after.rank < 9 });
  const [ada, bob, door] = [
    await open(1),
    await open(2),
    await open(3, { rules }),
  ];
  ada.put("x", {});
  bob.take(ada.records());
  bob.put("y", {});
  const asked: string[] = [];
  const receive = (records: Arrival[], full = false) =>
    door.accept(records, ({ chain }) => {
      asked.push(
        ada.replica.graph.chain(chain) !== undefined ? "ada" : "bob",
      );
      return full ? { refused: "quota", detail: "enough" } : undefined;
    }).map(({ verdict }) =>
      verdict.verdict === "refuse" ? verdict.refusal.refused : verdict.verdict
    );
  const certificates = [...ada.records(), ...bob.records()]
    .filter(({ kind }) => kind === recordKind.certificate);
  receive(certificates);
  const [first] = ada.records().filter(({ kind }) =>
    kind === recordKind.signedBatch
  );
  const second = bob.records().filter(({ kind }) =>
    kind === recordKind.signedBatch
  ).at(-1)!;
  const forged = { ...first!, bytes: first!.bytes.slice() };
  forged.bytes[forged.bytes.length - 1]! ^= 1;
  deepEqual(receive([forged]), ["bad-signature"]);
  deepEqual(receive([second]), ["park"]);
  deepEqual(asked, []);
  deepEqual(receive([first!], true), ["quota"]);
  deepEqual(receive([first!]), ["admit", "admit"]); // and the parked one
  deepEqual(receive([first!, second]), ["known", "known"]);
  deepEqual(asked, ["ada", "ada", "bob"]);
  ada.put("z", { rank: 9 });
  deepEqual(receive(ada.records().slice(-1), true), ["quota"]);
  deepEqual(receive(ada.records().slice(-1)), ["denied"]);
  for (const device of [ada, bob, door]) await device.replica.close();
});

Deno.test("the present is the same after a restart", async () => {
  const rules = rulesOf({ update: ({ before }) => before.rank === 1 });
  const [ada, bob, door] = [
    await open(1),
    await open(2),
    await open(3, { rules }),
  ];
  ada.put("x", { rank: 1 });
  bob.take(ada.records());
  bob.put("x", { title: "at rank 1", rank: 2 });
  door.accept(ada.records());
  for (const by of ["checkpoint", "log"] as const) {
    await door.replica.checkpoint();
    await door.reopen(by);
    deepEqual(refused(door, bob.records()), []);
  }
  ada.put("x", { title: "at rank 2" });
  for (const by of ["checkpoint", "log"] as const) {
    await door.replica.checkpoint();
    await door.reopen(by);
    equal(refused(door, ada.records()).length, 1);
  }
  equal(door.get("x", "title"), "at rank 1");
  for (const device of [ada, bob, door]) await device.replica.close();
});

Deno.test("a foreign commit that names own ones which are not in the log yet comes after them there", async () => {
  // Twins write the same commits; only one of them hands them out.
  const [ada, twin, bob] = [await open(1), await open(1), await open(2)];
  for (const device of [ada, twin]) {
    for (const rank of [0, 1]) device.put("x", { rank });
  }
  bob.take(twin.records());
  bob.put("x", { title: "Bob's" });
  ada.put("x", { rank: 2 });
  const verdicts = ada.take(bob.records()).map(({ verdict }) =>
    verdict.verdict
  );
  equal(verdicts.at(-1), "admit");
  await ada.reopen();
  equal(ada.get("x", "title"), "Bob's");
  equal(ada.get("x", "rank"), 2);
  for (const device of [ada, twin, bob]) await device.replica.close();
});
