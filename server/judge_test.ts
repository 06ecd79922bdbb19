import { deepEqual, equal } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import type { Item, Operation } from "../src/schema/patch.ts";
import { defineSchema, type Schema } from "../src/schema/schema.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import { Card, RuledDevice } from "../tests/kit/ruled_device.ts";
import type { PeerSession } from "../sync/proof.ts";
import { type Batch, decodeBatch, withVoid } from "../repo/commit/batch.ts";
import { NumberRanges } from "../src/base/number_ranges.ts";
import { Judge, type JudgeParts } from "./judge.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";

const NOW = 1_800_000_000_000;

/** Cards may have a rank below 5. */
const low = defineRules({
  "team/{team}": {
    collections: [rulesFor(Card, {
      create: ({ after }) => after.rank < 5 || "too high",
      update: ({ after }) => after.rank < 5 || "too high",
    })],
    others: true,
  },
});

interface Around {
  readonly rules?: Rules;
  readonly schemas?: readonly Schema[];
  /** What is known to have been accepted. */
  readonly accepted?: ReadonlyMap<string, ChainEnd>;
  readonly isAwaited?: boolean;
  readonly isUnknown?: boolean;
  readonly nowMs?: number;
  readonly isRestorer?: boolean;
}

/** The refusals of what somebody brings, as reason and number. */
function refusedOf(
  server: RuledDevice,
  by: RuledDevice,
  records: readonly Arrival[],
  around: Around,
): unknown[] {
  const { rules, schemas = [], accepted, nowMs = NOW } = around;
  const { isUnknown = false, isAwaited = isUnknown } = around;
  const judge = new Judge(
    {
      rules,
      schemas,
      restores: {
        accepted: (_, chain) => accepted?.get(chain),
        isAwaited: () => isAwaited,
        isUnknown: () => isUnknown,
      },
      world: { now: () => nowMs },
      itemsOf: ({ state }) => state,
      log: { write: () => {} },
    } satisfies JudgeParts,
  );
  const session = around.isRestorer
    ? "restorer"
    : { key: by.key, mayIssue: false } as PeerSession;
  const { replica } = server;
  const judged = replica.receive(records, {
    gate: (...asked) => judge.judge(replica, session, ...asked),
  });
  return judged.flatMap(({ verdict }) =>
    verdict.verdict === "refuse"
      ? [[verdict.refusal.refused, verdict.refusal.number]]
      : []
  );
}

function open(seed: number, more = {}): Promise<RuledDevice> {
  return RuledDevice.open({ seed, ...more });
}

/** Where the chains of a device end, as a witness would show. */
async function endsOf(device: RuledDevice): Promise<Map<string, ChainEnd>> {
  await device.replica.durable();
  return chainEndsOf(device.replica.port().summary()!);
}

Deno.test("Judge.judge() asks the rules, of what is new", async () => {
  const [ada, server] = [await open(1), await open(2)];
  for (const rank of [1, 2, 7]) ada.put("x", { rank });
  const around = { rules: low };
  deepEqual(refusedOf(server, ada, ada.records(), around), [["denied", 2]]);
  for (const device of [ada, server]) await device.replica.close();
});

Deno.test("Judge.judge() lets stand what a witness shows, and judges what comes after it by that", async () => {
  const [ada, server] = [await open(1), await open(2)];
  for (const rank of [7, 8]) ada.put("x", { rank });
  const accepted = await endsOf(ada);
  ada.put("x", { rank: 2 });
  const records = ada.records();
  deepEqual(refusedOf(server, ada, records, { rules: low, accepted }), []);
  equal(server.get("x", "rank"), 2);
  ada.put("x", { rank: 9 });
  const [refusal] = refusedOf(server, ada, ada.records(), {
    rules: low,
    accepted,
  });
  deepEqual(refusal, ["denied", 3]);
  for (const device of [ada, server]) await device.replica.close();
});

Deno.test("Judge.judge() takes nothing else in the place of what a witness shows", async () => {
  // Twins write with one key; the server had accepted what the first wrote.
  const [ada, twin, server] = [await open(1), await open(1), await open(2)];
  ada.put("x", { rank: 1 });
  const accepted = await endsOf(ada);
  twin.put("x", { rank: 9 });
  const around = { rules: low, accepted };
  deepEqual(refusedOf(server, twin, twin.records(), around), [["fork", 0]]);
  deepEqual(refusedOf(server, ada, ada.records(), around), []);
  for (const device of [ada, twin, server]) await device.replica.close();
});

Deno.test("Judge.judge() lets nothing in unjudged that does not reach what is proved", async () => {
  const [ada, twin, server] = [await open(1), await open(1), await open(2)];
  for (const title of ["one", "two"]) ada.put("x", { rank: 9, title });
  const accepted = await endsOf(ada);
  twin.put("x", { rank: 9 });
  const around = { rules: low, accepted };
  deepEqual(refusedOf(server, twin, twin.records(), around), [["denied", 0]]);
  const awaited = { ...around, isAwaited: true };
  const piece = twin.records();
  deepEqual(refusedOf(server, twin, piece, awaited), [["restoring", 0]]);
  deepEqual(refusedOf(server, ada, joined(ada), awaited), []);
  equal(server.get("x", "rank"), 9);
  for (const device of [ada, twin, server]) await device.replica.close();
});

Deno.test("Judge.proved() says of a batch what a witness shows: pieces are nothing, and what is void there is void here", async () => {
  const [ada, server] = [await open(1), await open(2)];
  for (const title of ["one", "two", "three"]) ada.put("x", { title });
  const accepted = await endsOf(ada);
  const [[chain, end] = ["", undefined]] = accepted;
  const judgeOf = (end: ChainEnd | undefined, isAwaited = false) =>
    new Judge({
      rules: undefined,
      restores: {
        accepted: () => end,
        isAwaited: () => isAwaited,
        isUnknown: () => false,
      },
      world: { now: () => NOW },
      itemsOf: ({ state }) => state,
      log: { write: () => {} },
    });
  const whole = decodeBatch(joined(ada).at(-1)!.bytes, true);
  const piece = { ...whole, commits: whole.commits.slice(0, 2) };
  const { replica } = server;
  const said = (batch: Batch, one: ChainEnd | undefined, isAwaited = false) => {
    const proved = judgeOf(one, isAwaited).proved(replica, batch, 0);
    return typeof proved === "number"
      ? proved
      : [proved.refused, proved.number];
  };
  equal(whole.chain, chain);
  equal(said(whole, end), 3);
  equal(said(whole, undefined), 0);
  equal(said(piece, end), 0);
  deepEqual(said(piece, end, true), ["restoring", 0]);
  const voids = new NumberRanges();
  voids.add(1);
  deepEqual(said(whole, { ...end!, voids }), ["fork", 1]);
  const stubs = withVoid(whole, (number) => number === 1);
  equal(said(stubs, { ...end!, voids }), 3);
  deepEqual(said(stubs, end), ["fork", 1]);
  for (const device of [ada, server]) await device.replica.close();
});

Deno.test("Judge.judge() takes of who only restores what is proved, and nothing that he puts behind it or in its place", async () => {
  const [ada, twin, server] = [await open(1), await open(1), await open(2)];
  ada.put("x", { rank: 9 });
  const accepted = await endsOf(ada);
  const proved = joined(ada);
  for (const device of [ada, twin]) device.put("x", { rank: 1 });
  const bring = (by: RuledDevice, records: Arrival[], more: Around = {}) =>
    refusedOf(server, by, records, { accepted, isRestorer: true, ...more });
  for (const isAwaited of [true, false]) {
    const around = { isAwaited };
    deepEqual(bring(twin, joined(twin), around), [["fork", 0]]);
    deepEqual(bring(ada, joined(ada), around), [["restoring", 1]]);
    const none = { ...around, accepted: new Map() };
    deepEqual(bring(ada, proved, none), [["restoring", 0]]);
  }
  equal(server.replica.graph.commits, 0);
  deepEqual(bring(ada, proved, { isAwaited: true }), []);
  equal(server.get("x", "rank"), 9);
  for (const device of [ada, twin, server]) await device.replica.close();
});

Deno.test("Judge.judge() judges what comes after what a witness shows by that, also within one batch", async () => {
  const Titled = defineSchema("card", Card.fields, { unique: [["title"]] });
  const [ada, twin] = [await open(1), await open(1)];
  const server = await open(2, { schemas: [Titled] });
  twin.put("x", { title: "one" });
  const accepted = await endsOf(twin);
  ada.put("x", { title: "one" });
  ada.put("y", { title: "one" });
  const refused = refusedOf(server, ada, ada.records(), { accepted });
  deepEqual(refused, [["constraint", 1]]);
  for (const device of [ada, twin, server]) await device.replica.close();
});

Deno.test("Judge.judge() takes nothing but what is proved as long as nobody knows what is missing", async () => {
  const [ada, bob, server] = [await open(1), await open(2), await open(3)];
  ada.put("x", { rank: 9 });
  const accepted = await endsOf(ada);
  ada.put("y", { rank: 1 });
  bob.put("x", { rank: 1 });
  const unknown = { accepted, isUnknown: true };
  const unproved = [["restoring", 0]];
  deepEqual(refusedOf(server, bob, bob.records(), unknown), unproved);
  const proved = refusedOf(server, ada, ada.records(), unknown);
  deepEqual(proved, [["restoring", 1]]);
  equal(server.get("x", "rank"), 9);
  deepEqual(refusedOf(server, bob, bob.records(), { accepted }), []);
  for (const device of [ada, bob, server]) await device.replica.close();
});

Deno.test("Judge.judge() waits with what constraints are asked of, and with nothing else", async () => {
  const Titled = defineSchema("card", Card.fields, { unique: [["title"]] });
  const Other = defineSchema("other", Card.fields, { unique: [["title"]] });
  for (const [schema, refused] of [[Titled, 1], [Other, 0]] as const) {
    const [ada, server] = [await open(1), await open(2, { schemas: [schema] })];
    ada.put("x", {});
    const awaited = { isAwaited: true };
    equal(refusedOf(server, ada, ada.records(), awaited).length, refused);
    for (const device of [ada, server]) await device.replica.close();
  }
});

Deno.test("Judge.judge() waits with what is judged for what is about to come back", async () => {
  const [ada, server] = [await open(1), await open(2)];
  ada.put("x", { rank: 1 });
  const records = ada.records();
  const awaited = { rules: low, isAwaited: true };
  deepEqual(refusedOf(server, ada, records, awaited), [["restoring", 0]]);
  const unjudged = { isAwaited: true };
  deepEqual(refusedOf(server, ada, records, unjudged), []);
  for (const device of [ada, server]) await device.replica.close();
});

/** What a device wrote, neighbours of one chain as one batch. */
function joined(device: RuledDevice): Arrival[] {
  device.replica.flush();
  const { records } = device.replica.port().read(0, limits.recordsBytesSoft);
  return records.map(({ kind, bytes }) => ({ kind, bytes: bytes.slice() }));
}

Deno.test("Judge.judge() takes from others only what its author could bring at that moment", async () => {
  const notAfter = NOW + 1_000_000;
  const [ada, bob] = [await open(1, { notAfter }), await open(2)];
  const server = await open(3);
  ada.put("x", { rank: 1 });
  const records = ada.records();
  const late = { nowMs: notAfter + 1 };
  deepEqual(refusedOf(server, bob, records, late), [["expired-session", 0]]);
  const accepted = await endsOf(ada);
  for (const rank of [2, 3]) ada.put("x", { rank });
  const back = { ...late, accepted };
  const whole = joined(ada);
  deepEqual(refusedOf(server, bob, whole, back), [["expired-session", 1]]);
  deepEqual(refusedOf(server, bob, records, back), []);
  deepEqual(refusedOf(server, bob, whole, {}), []);
  for (const device of [ada, bob, server]) await device.replica.close();
});

Deno.test("Judge.judge() bounds the collections of a repository, in one batch or many", async () => {
  const [eve, server] = [await open(1), await open(2)];
  const begin = (from: number, to: number) =>
    eve.replica.transact((tx) => {
      for (let i = from; i < to; i++) {
        // As a faulty program would: past the limit of `table()`.
        const shape = { collection: `c${i}`, version: 1, fields: [] };
        tx.cellOf(eve.editor.table, shape.collection);
        const id = shape.collection;
        const operation = { what: "delete", shape, id, generation: 0 } as const;
        tx.put(eve.editor.table, operation, undefined);
      }
    });
  begin(0, limits.collectionsMax - 1); // The server has "card" already.
  deepEqual(refusedOf(server, eve, eve.records(), {}), []);
  equal(server.replica.state.size, limits.collectionsMax);
  begin(limits.collectionsMax - 1, limits.collectionsMax);
  deepEqual(refusedOf(server, eve, eve.records(), {}), [["too-large", 1]]);
  for (const device of [eve, server]) await device.replica.close();
});

Deno.test("Judge.judge() keeps room for the collections of rules and schemas and for entries, whoever begins others", async () => {
  const [eve, ada, server] = [await open(1), await open(2), await open(3)];
  const Late = defineSchema("late", {});
  const all = { create: () => true };
  const collections = [rulesFor(Card, all), rulesFor(Late, all)];
  const rules = defineRules({ "**": { collections, others: true } });
  // What both name has room once.
  const around = { rules, schemas: [Late, defineSchema("kv-jobs", {})] };
  const begin = (
    { replica, editor: { table } }: RuledDevice,
    names: string[],
  ) =>
    replica.transact((tx) => {
      for (const id of names) {
        const shape = { collection: id, version: 1, fields: [] };
        tx.cellOf(table, id); // As a faulty program would: past the limit of `table()`.
        const item = { id };
        const operation: Operation = {
          what: "create",
          shape,
          id,
          generation: 0,
          item,
        };
        tx.put(table, operation, undefined);
      }
    });
  const { size } = server.replica.state;
  const late = ["late", "kv", "kv-jobs"];
  const room = limits.collectionsMax - size - late.length;
  begin(eve, Array.from({ length: room }, (_, i) => `c${i}`));
  deepEqual(refusedOf(server, eve, eve.records(), around), []);
  begin(eve, ["more"]);
  const refused = refusedOf(server, eve, eve.records(), around);
  deepEqual(refused, [["too-large", 1]]);
  for (const name of late) begin(ada, [name]);
  deepEqual(refusedOf(server, ada, ada.records(), around), []);
  for (const device of [eve, ada, server]) await device.replica.close();
});

Deno.test("Judge.judge() lets nobody skip a generation, with rules or without", async () => {
  const [eve, server] = [await open(1), await open(2)];
  const { replica, editor: { table } } = eve;
  const shape = { collection: "other", version: 1, fields: [] };
  const id = "x";
  const write = (operation: Operation) =>
    replica.transact((tx) =>
      void tx.put(table, operation, tx.cellOf(table, id))
    );
  const begin = (generation: number) =>
    write({ what: "create", shape, id, generation, item: { id } });
  const end = (generation: number) =>
    write({ what: "delete", shape, id, generation });
  for (const generation of [0, 1]) {
    begin(generation);
    end(generation);
  }
  deepEqual(refusedOf(server, eve, eve.records(), {}), []);
  begin(2);
  end(1);
  end(limits.generationMax);
  for (const around of [{}, { rules: low }]) {
    const refused = refusedOf(server, eve, eve.records(), around);
    deepEqual(refused, [["denied", 6]]);
  }
  const awaited = { isAwaited: true };
  deepEqual(refusedOf(server, eve, eve.records(), awaited), [["restoring", 6]]);
  for (const device of [eve, server]) await device.replica.close();
});

Deno.test("Judge.partsRead is what was put together for rules, of the batch that was judged last", async () => {
  const update = ({ after }: { readonly after: Item }) =>
    (after["tags"] as readonly string[]).length > 0;
  const rules = defineRules({
    "team/{team}": {
      collections: [rulesFor(Card, { create: () => true, update })],
    },
  });
  const [ada, { replica }] = [await open(1), await open(2)];
  const none = () => false;
  const judge = new Judge({
    rules,
    restores: { accepted: () => undefined, isAwaited: none, isUnknown: none },
    world: { now: () => NOW },
    itemsOf: ({ state }) => state,
    log: { write: () => {} },
  });
  const session = { key: ada.key };
  const read: number[] = [];
  const tags = { add: Array.from({ length: 50 }, (_, i) => `t${i}`) };
  for (const fields of [{}, { tags }, { rank: 1 }, { rank: 2 }]) {
    ada.put("x", fields);
    replica.receive(ada.records(), {
      gate: (...asked) => judge.judge(replica, session, ...asked),
    });
    read.push(judge.partsRead);
  }
  deepEqual(read, [0, 50, 50, 0]);
  for (const device of [ada.replica, replica]) await device.close();
});
