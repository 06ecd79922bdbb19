import { deepEqual, equal, ok } from "node:assert/strict";
import {
  Card,
  RuledDevice,
  type RuledOptions,
} from "../tests/kit/ruled_device.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import type { WriteRules } from "../src/schema/rule_types.ts";
import type { Arrival } from "./arrival.ts";

function rulesOf(rules: WriteRules<typeof Card>): Rules {
  const all = { create: () => true, update: () => true, delete: () => true };
  return defineRules({
    "team/{team}": { collections: [rulesFor(Card, { ...all, ...rules })] },
  });
}

function open(seed: number, more: Omit<RuledOptions, "seed"> = {}) {
  return RuledDevice.open({ seed, ...more });
}

/** Everything of a device in as few batches as there can be. */
async function joined(device: RuledDevice): Promise<Arrival[]> {
  await device.replica.durable();
  const port = device.replica.port();
  return port.read(0, 1e6).records.map(({ kind, bytes }) => ({ kind, bytes }));
}

/** The refusals of what a device sends, as number, reason and rule. */
function refused(to: RuledDevice, records: Arrival[]): unknown[] {
  return to.take(records).flatMap(({ verdict }) => {
    if (verdict.verdict !== "refuse") return [];
    const { refused, number, rule, detail } = verdict.refusal;
    return [[refused, number, rule, detail]];
  });
}

Deno.test("the door refuses a batch and says which commit, which rule and why", async () => {
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

Deno.test("a rule sees what the commit's author saw, not what else the replica knows", async () => {
  const rules = rulesOf({
    update: ({ before, session }) => before.owner === session.user,
  });
  const [ada, bob] = [await open(1), await open(2)];
  const door = await open(3, { rules });
  ada.put("x", { owner: ada.user });
  bob.take(ada.records());
  ada.put("x", { owner: bob.user }); // Given away …
  ada.take([]);
  const given = ada.records();
  bob.put("x", { rank: 1 }); // … which Bob has not heard of when he writes.
  deepEqual(refused(door, given), []);
  const [refusal] = refused(door, bob.records()) as [unknown[]];
  equal(refusal?.[0], "denied");
  bob.take(given);
  const late = await open(4);
  late.take(given);
  late.put("x", { rank: 2 }); // user-0: never the owner
  equal(refused(door, late.records()).length, 1);
  for (const device of [ada, bob, door, late]) await device.replica.close();
});

Deno.test("a batch whose author learned something in the middle is judged by what it knew at each commit", async () => {
  const rules = rulesOf({
    update: ({ before, changed }) =>
      changed.includes("votes") ? before.rank === 0 : true,
    delete: ({ before }) => before.rank === 5 && before.votes === 1,
  });
  const [ada, bob] = [await open(1), await open(2)];
  const [relay, door] = [await open(3), await open(5, { rules })];
  const eve = await open(6);
  ada.put("x", { rank: 0 });
  for (const device of [bob, relay, eve]) device.take(ada.records());
  eve.put("x", { title: "concurrent" });
  bob.put("x", { rank: 5 });
  ada.put("x", { votes: { increment: 1 } });
  ada.take(bob.records());
  ada.remove("x");
  relay.take(bob.records());
  relay.take(ada.records());
  const records = await joined(relay);
  equal(records.filter(({ kind }) => kind === "signed").length, 3);
  door.take(eve.records());
  deepEqual(refused(door, records), []);
  equal(door.replica.graph.commits, 5);
  for (const device of [ada, bob, relay, door, eve]) {
    await device.replica.close();
  }
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
    door.replica.receive(records, {
      gate: ({ chain }) => {
        asked.push(
          chain === ada.replica.graph.heads()[0]?.chain ? "ada" : "bob",
        );
        return full ? { refused: "quota", detail: "enough" } : undefined;
      },
    }).map(({ verdict }) =>
      verdict.verdict === "refuse" ? verdict.refusal.refused : verdict.verdict
    );
  const certificates = [...ada.records(), ...bob.records()]
    .filter(({ kind }) => kind === "certificate");
  receive(certificates);
  const [first] = ada.records().filter(({ kind }) => kind === "signed");
  const second = bob.records().filter(({ kind }) => kind === "signed").at(-1)!;
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

Deno.test("what was judged before a restart is judged the same after it", async () => {
  const rules = rulesOf({ update: ({ before }) => before.rank === 1 });
  const [ada, bob, door] = [
    await open(1),
    await open(2),
    await open(3, { rules }),
  ];
  ada.put("x", { rank: 1 });
  bob.take(ada.records());
  ada.put("x", { rank: 2 });
  bob.put("x", { title: "saw rank 1" });
  door.take(ada.records());
  await door.replica.checkpoint();
  await door.reopen();
  deepEqual(refused(door, bob.records()), []);
  bob.take(ada.records());
  bob.put("x", { title: "saw rank 2" });
  equal(refused(door, bob.records()).length, 1);
  ok(door.get("x", "title") === "saw rank 1");
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
