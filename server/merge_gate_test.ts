/**
 * The gate before a hostile writer who says what it likes of sets, lists, texts
 * and fields, and honest ones around it.
 */

import { deepEqual, equal, ok, throws } from "node:assert/strict";
import { checkMerge } from "../repo/admission/merge_gate.ts";
import type { Arrival } from "../repo/admission/arrival.ts";
import type { Stamp } from "../src/base/hlc.ts";
import { limits } from "../src/base/limits.ts";
import { nameOf } from "../src/schema/rich_list.ts";
import type {
  Change,
  FieldKind,
  Operation,
  Shape,
  Value,
} from "../src/schema/patch.ts";
import { type DecodedPatch, inOrder } from "../src/schema/patch_codec.ts";
import {
  type TextRun,
  type TextSpan,
  TextState,
} from "../src/schema/text_state.ts";
import { defineRules, type Rules, rulesFor } from "../src/schema/rules.ts";
import { Card, RuledDevice } from "../tests/kit/ruled_device.ts";
import { workOf } from "../tests/kit/work.ts";
import type { PeerSession } from "../sync/proof.ts";
import { Judge } from "./judge.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";

const kinds: Record<string, FieldKind> = {
  title: "string",
  labels: "set",
  steps: "list",
  body: "text",
  marks: "map",
};

function shapeOf(fields: Record<string, FieldKind> = kinds): Shape {
  const list = Object.entries(fields).map(([name, kind]) => ({ name, kind }));
  return { collection: "card", version: 1, fields: list };
}

const shape = shapeOf();

function create(id = "x", steps: readonly Value[] = []): Operation {
  const item = { id, title: "t", labels: [], steps, body: "", marks: {} };
  return { what: "create", shape, id, generation: 0, item };
}

/** Changes of a field of an item, in one operation. */
function update(name: string, ...changes: readonly Change[]): Operation {
  const field = shape.fields.find((field) => field.name === name)!;
  return {
    what: "update",
    shape,
    id: "x",
    generation: 0,
    changes: inOrder(shape, changes.map((change) => ({ field, change }))),
  };
}

/** One commit of raw operations. */
function write(device: RuledDevice, ...operations: Operation[]): Stamp {
  const { replica, editor: { table } } = device;
  let origin: Stamp;
  replica.transact((tx) => {
    origin = tx.origin;
    for (const operation of operations) {
      tx.put(table, operation, tx.cellOf(table, operation.id));
    }
  });
  return origin!;
}

interface Around {
  readonly accepted?: ReadonlyMap<string, ChainEnd>;
  readonly isAwaited?: boolean;
  readonly rules?: Rules | undefined;
}

/** Refusals of what a device hands in, as reason and number. */
function refusedOf(
  server: RuledDevice,
  by: RuledDevice,
  around: Around = {},
  records: readonly Arrival[] = by.records(),
  judge: Judge = judgeOf(around),
): unknown[] {
  const { replica } = server;
  const session = { key: by.key, mayIssue: false } as PeerSession;
  return replica.receive(records, {
    gate: (...asked) => judge.judge(replica, session, ...asked),
  }).flatMap(({ verdict }) =>
    verdict.verdict === "refuse"
      ? [[verdict.refusal.refused, verdict.refusal.number]]
      : []
  );
}

function judgeOf(around: Around = {}): Judge {
  return new Judge({
    log: { write() {} },
    rules: around.rules,
    restores: {
      accepted: (_, chain) => around.accepted?.get(chain),
      isAwaited: () => around.isAwaited === true,
      isUnknown: () => false,
    },
    world: { now: () => 1_800_000_000_000 },
    itemsOf: ({ state }) => state,
  });
}

/** Runs with a server that has the item, and devices that know it. */
async function withItem(
  work: (
    server: RuledDevice,
    ada: RuledDevice,
    eve: RuledDevice,
  ) => void | Promise<void>,
): Promise<void> {
  const open = (seed: number) => RuledDevice.open({ seed, reading: null });
  const devices = [await open(1), await open(2), await open(3)] as const;
  const [server, ada, eve] = devices;
  write(ada, create("x", ["one", "two"]));
  deepEqual(refusedOf(server, ada), []);
  eve.take(ada.records());
  await work(server, ada, eve);
  for (const device of devices) await device.replica.close();
}

/** The stamps of what a device will write, as far as anybody can guess. */
function guessed({ replica }: RuledDevice, count: number): Stamp[] {
  const [chain] = [...replica.graph.chains()];
  const { name, last } = chain!;
  return Array.from({ length: count }, (_, i) => ({
    wall: last.wall + i + 1,
    count: 0,
    chain: name,
  }));
}

Deno.test("the gate refuses a remove of 1,000 adds that nobody has made, and the add that comes stays", () =>
  withItem((server, ada, eve) => {
    const values = [{ value: "new", tags: guessed(ada, 1_000) }];
    write(eve, update("labels", { what: "remove", values }));
    deepEqual(refusedOf(server, eve), [["unknown-name", 0]]);
    write(ada, update("labels", { what: "add", values: ["new"] }));
    deepEqual(refusedOf(server, ada), []);
    deepEqual(server.get("x", "labels"), ["new"]);
  }));

Deno.test("the gate takes a remove of what the same commit, the same batch or somebody accepted has added", () =>
  withItem((server, ada, eve) => {
    const add = update("labels", { what: "add", values: ["a"] });
    const remove = (tag: Stamp) => {
      const values = [{ value: "a", tags: [tag] }];
      return update("labels", { what: "remove", values });
    };
    const tag = write(ada, add);
    const other = write(ada, add);
    write(ada, remove(tag), add, remove(other));
    deepEqual(refusedOf(server, ada), []);
    eve.take(ada.records());
    write(eve, remove(tag)); // A second time, as concurrent writers do.
    deepEqual(refusedOf(server, eve), []);
    const wrong = [{ value: "b", tags: [tag] }];
    write(eve, update("labels", { what: "remove", values: wrong }));
    deepEqual(refusedOf(server, eve), [["unknown-name", 1]]);
  }));

Deno.test("the gate refuses moves, replacements and deletes of elements that nobody has inserted", () =>
  withItem(async (server, ada, eve) => {
    const named: readonly Change[] = [
      { what: "move", moves: [{ element: "e", position: "a5" }] },
      { what: "replace", values: [["e", 1]] },
      { what: "delete", elements: ["e"] },
    ];
    for (const [i, change] of named.entries()) {
      const other = await RuledDevice.open({ seed: 10 + i, reading: null });
      other.take(ada.records());
      write(other, update("steps", change));
      deepEqual(refusedOf(server, other), [["unknown-name", 0]]);
      await other.replica.close();
    }
    const elements = [{ element: "e", position: "a5", value: 1 }];
    const insert: Change = { what: "insert", elements };
    write(eve, update("steps", insert, ...named.slice(0, 2)));
    write(eve, update("steps", named[2]!));
    write(eve, update("steps", ...named)); // Deleted elements are known.
    deepEqual(refusedOf(server, eve), []);
  }));

Deno.test("the gate takes elements under the names of past creates, and looks for their chains once", () =>
  withItem((server, ada, eve) => {
    const insert = (stamp: Stamp) => {
      const element = `${nameOf(stamp)}.0`;
      const elements = [{ element, position: "a0", value: "mine" }];
      return update("steps", { what: "insert", elements });
    };
    const [coming] = guessed(ada, 1);
    const past = { ...coming!, wall: coming!.wall - 1 };
    const { graph } = server.replica;
    const chains = graph.chains.bind(graph);
    const judge = judgeOf();
    let looks = 0;
    graph.chains = () => {
      looks++;
      return chains();
    };
    for (let i = 0; i < 9; i++) {
      write(eve, insert({ ...past, wall: past.wall - i }));
      deepEqual(refusedOf(server, eve, {}, eve.records(), judge), []);
    }
    equal(looks, 1, "all chains are looked through once, not for each batch");
    write(eve, insert({ ...past, chain: "nobody's".repeat(5) }));
    for (let i = 0; i < 9; i++) {
      const refused = refusedOf(server, eve, {}, eve.records(), judge);
      deepEqual(refused, [["unknown-name", 9]]);
    }
    equal(looks, 1, "nor for each name of a chain that is not there");
  }));

Deno.test("the gate refuses elements under the name of a create to come", () =>
  withItem((server, ada, eve) => {
    const [coming] = guessed(ada, 1);
    const element = `${nameOf(coming!)}.0`;
    const elements = [{ element, position: "a0", value: "mine" }];
    write(eve, update("steps", { what: "insert", elements }));
    deepEqual(refusedOf(server, eve), [["unknown-name", 0]]);
  }));

function edit(
  client: number,
  runs: readonly TextRun[],
  gone: readonly TextSpan[] = [],
): Operation {
  const clients = new Map([[client, { runs, gone }]]);
  return update("body", { what: "edit", text: new TextState(clients) });
}

const typed = (
  clock: number,
  text: string | undefined,
  more = {},
): TextRun => ({
  clock,
  length: text?.length ?? 1,
  left: clock === 0 ? undefined : { client: 7, clock: clock - 1 },
  right: undefined,
  text,
  ...more,
});

Deno.test("the gate refuses a span that would kill what is typed later, and takes what deletes units that are there", () =>
  withItem((server, ada, eve) => {
    write(ada, edit(7, [typed(0, "abc")]));
    write(ada, edit(7, [typed(3, "de")]));
    deepEqual(refusedOf(server, ada), []);
    eve.take(ada.records());
    write(eve, edit(7, [], [{ clock: 1, length: 4 }]));
    deepEqual(refusedOf(server, eve), []);
    write(eve, edit(7, [], [{ clock: 3, length: 2 ** 31 }]));
    deepEqual(refusedOf(server, eve), [["unknown-name", 1]]);
  }));

Deno.test("the gate refuses units that are not the next ones of their client, or stand beside unknown ones", () =>
  withItem(async (server, ada) => {
    write(ada, edit(7, [typed(0, "abc")]));
    deepEqual(refusedOf(server, ada), []);
    const lies: readonly Operation[] = [
      // Ahead of who types there, dead on arrival.
      edit(7, [typed(9, undefined, { length: 2 ** 31 })]),
      edit(7, [typed(1, "again")]),
      edit(8, [typed(0, "x", { left: { client: 7, clock: 3 } })]),
      edit(8, [typed(0, "x", { right: { client: 9, clock: 0 } })]),
      edit(8, [typed(1, "x")]),
    ];
    for (const [i, lie] of lies.entries()) {
      const other = await RuledDevice.open({ seed: 10 + i, reading: null });
      other.take(ada.records());
      write(other, lie);
      deepEqual(refusedOf(server, other), [["unknown-name", 0]], `${i}`);
      await other.replica.close();
    }
    write(ada, edit(8, [typed(0, "x", { left: { client: 7, clock: 2 } })]));
    deepEqual(refusedOf(server, ada), []);
  }));

Deno.test("the gate touches few of 8,000 pieces of a text, for edits that it takes and for lies that it refuses", () =>
  withItem(async (server, ada, eve) => {
    const pieces = 8_000;
    const alone = (clock: number) => typed(clock, "x", { left: undefined });
    for (let at = 0; at < pieces; at += 1_000) {
      const runs = Array.from({ length: 1_000 }, (_, i) => alone(at + i));
      write(ada, edit(7, runs));
    }
    deepEqual(refusedOf(server, ada), []);
    eve.take(ada.records());
    write(eve, update("title", { what: "set", value: "new" }));
    deepEqual(refusedOf(server, eve), []);
    const before = eve.records().length;
    const all = edit(7, [], [{ clock: 0, length: pieces }]);
    for (let i = 0; i < 50; i++) {
      write(eve, edit(7, [], [{ clock: i * 9, length: 1 }]), all);
      write(eve, edit(8 + i, [typed(0, "y", { left: undefined })]), all);
    }
    const records = eve.records().slice(before);
    const taken = workOf(() => {
      deepEqual(refusedOf(server, eve, {}, records), []);
    });
    ok(taken < 200 * 400, `${taken} elements in 200 edits`);
    const bob = await RuledDevice.open({ seed: 9, reading: null });
    bob.take(ada.records());
    // Over all that is there, dead on arrival: it must not be folded.
    const lie = edit(7, [typed(0, undefined, { length: pieces })]);
    write(bob, lie, ...Array.from({ length: 20 }, () => all));
    const lies = bob.records();
    const refused = workOf(() => {
      const found = refusedOf(server, bob, {}, lies);
      deepEqual(found, [["unknown-name", 0]]);
    });
    ok(refused < 3_000, `${refused} elements for one lie`);
    await bob.replica.close();
  }));

Deno.test("the gate does not ask about names in a generation that has ended, nor in what was accepted before a loss", () =>
  withItem(async (server, ada, eve) => {
    const values = [{ value: "new", tags: guessed(ada, 1) }];
    write(eve, update("labels", { what: "remove", values }));
    await eve.replica.durable();
    const accepted = chainEndsOf(eve.replica.port().summary()!);
    deepEqual(refusedOf(server, eve, { accepted }), []);
    const gone = { what: "delete", shape, id: "x", generation: 0 } as const;
    write(ada, gone);
    deepEqual(refusedOf(server, ada), []);
    const bob = await RuledDevice.open({ seed: 9, reading: null });
    bob.take(ada.records().slice(0, 2));
    write(bob, update("labels", { what: "remove", values }));
    deepEqual(refusedOf(server, bob), []);
    await bob.replica.close();
  }));

Deno.test("the gate waits with names for what is about to come back, and with nothing else", () =>
  withItem((server, ada) => {
    write(ada, update("title", { what: "set", value: "plain" }));
    deepEqual(refusedOf(server, ada, { isAwaited: true }), []);
    write(ada, edit(7, [typed(0, "abc")]));
    deepEqual(refusedOf(server, ada, { isAwaited: true }), [["restoring", 2]]);
    deepEqual(refusedOf(server, ada), []);
  }));

/** A create that says what its fields are. */
function declaring(id: string, fields: Record<string, FieldKind>): Operation {
  const values: Partial<Record<FieldKind, Value>> = {
    string: "s",
    list: [],
    set: [],
    number: 1,
  };
  const item = { id };
  for (const [name, kind] of Object.entries(fields)) {
    Object.assign(item, { [name]: values[kind] });
  }
  return { what: "create", shape: shapeOf(fields), id, generation: 0, item };
}

for (const by of ["checkpoint", "log", undefined] as const) {
  const after = by === undefined ? "" : `, also after reopening by its ${by}`;
  Deno.test(`the gate holds who declares a field to what it was first${after}`, () =>
    withItem(async (server, ada, eve) => {
      // Of "late" only an update has ever spoken.
      const late = shapeOf({ late: "set" });
      const change = { what: "add", values: ["v"] } as const;
      const changes = [{ field: late.fields[0]!, change }];
      write(ada, {
        what: "update",
        shape: late,
        id: "x",
        generation: 0,
        changes,
      });
      deepEqual(refusedOf(server, ada), []);
      if (by !== undefined) await server.reopen(by);
      write(eve, declaring("y", { title: "number", other: "list" }));
      deepEqual(refusedOf(server, eve), [], "registers are registers");
      write(eve, declaring("z", { title: "list" }));
      deepEqual(refusedOf(server, eve), [["wrong-kind", 1]]);
      const bob = await RuledDevice.open({ seed: 9, reading: null });
      write(bob, declaring("v", { late: "list" }));
      deepEqual(refusedOf(server, bob), [["wrong-kind", 0]]);
      await bob.replica.close();
    }));
}

/** A commit of one operation, as it was decoded. */
function patchOf(operation: Operation): DecodedPatch {
  return { operations: [operation], operationsOffset: 0, createOffsets: [-1] };
}

/** One field that is written to an item, late or not. */
function speaking(name: string, kind: FieldKind, id = "x"): Operation {
  const shape = shapeOf({ [name]: kind });
  const change: Change = kind === "list"
    ? { what: "insert", elements: [{ element: "e", position: "a0", value: 1 }] }
    : { what: "set", value: "v" };
  const changes = [{ field: shape.fields[0]!, change }];
  return { what: "update", shape, id, generation: 0, changes };
}

for (const by of ["checkpoint", "log", undefined] as const) {
  const after = by === undefined ? "" : `, also after reopening by its ${by}`;
  Deno.test(`the gate learns nothing of a field from what is written to a deleted item${after}`, () =>
    withItem(async (server, ada, eve) => {
      write(ada, create("y"));
      const gone = { what: "delete", id: "x", generation: 0 } as const;
      write(ada, { ...gone, shape });
      deepEqual(refusedOf(server, ada), []);
      const { kinds } = server.editor.table;
      const { size } = kinds;
      const names = Array.from({ length: limits.fieldsMax }, (_, i) => `${i}`);
      for (const part of ["a", "b", "c", "d", "e"]) { // More than there may be.
        const fields = names.map((name) => [part + name, "string"]);
        write(eve, declaring("x", Object.fromEntries(fields)));
      }
      write(eve, speaking("fresh", "list"));
      write(eve, declaring("x", { fresh: "list", other: "list" }));
      // A delete writes no field, whatever it says of them; and the latest one stays.
      write(eve, { ...gone, shape: shapeOf({ fresh: "list", title: "list" }) });
      deepEqual(refusedOf(server, eve), []);
      equal(kinds.size, size);
      if (by !== undefined) await server.reopen(by);
      equal(server.editor.table.kinds.size, size);
      write(ada, declaring("z", { fresh: "string", other: "set" }));
      write(ada, speaking("title", "string", "y"));
      deepEqual(refusedOf(server, ada), []);
    }));
}

Deno.test("the gate learns nothing of a field from what a batch writes to what it has ended itself", () =>
  withItem((server, ada, eve) => {
    const gone = { what: "delete", shape, id: "x", generation: 0 } as const;
    write(eve, gone, speaking("fresh", "list"));
    write(eve, speaking("fresh", "list"), gone, speaking("later", "list"));
    write(eve, declaring("y", { fresh: "string", later: "string" }));
    deepEqual(refusedOf(server, eve), []);
    write(ada, speaking("title", "list"));
    deepEqual(refusedOf(server, ada), [["wrong-kind", 1]], "it still checks");
  }));

Deno.test("checkMerge() asks nothing of what was accepted before a loss, and holds what comes after it to that", () =>
  withItem(({ replica: { state } }) => {
    const patches = [
      declaring("y", { fresh: "string", title: "list" }),
      declaring("z", { fresh: "list" }),
    ].map(patchOf);
    const refusal = checkMerge(state, 5, patches, undefined, 6);
    deepEqual([refusal?.refused, refusal?.number], ["wrong-kind", 6]);
    equal(checkMerge(state, 5, patches, undefined, 7), undefined);
    equal(checkMerge(state, 5, patches)?.number, 5);
  }));

Deno.test("the gate holds one batch to its own first word", () =>
  withItem((server, _, eve) => {
    write(eve, declaring("y", { fresh: "string" }));
    write(eve, declaring("z", { fresh: "set" }));
    deepEqual(refusedOf(server, eve), [["wrong-kind", 1]]);
  }));

Deno.test("where rules have a schema, that says what a field is, whoever wrote it first", () =>
  withItem(async (server, ada, eve) => {
    write(eve, declaring("y", { owner: "list" })); // Before any rules.
    deepEqual(refusedOf(server, eve), []);
    const all = { create: () => true, update: () => true, delete: () => true };
    const rules = defineRules({
      "team/{team}": { collections: [rulesFor(Card, all)] },
    });
    write(ada, declaring("z", { owner: "string" }));
    deepEqual(refusedOf(server, ada), [["wrong-kind", 1]]);
    const bob = await RuledDevice.open({ seed: 9, reading: null });
    write(bob, declaring("z", { owner: "string" }));
    deepEqual(refusedOf(server, bob, { rules }), []);
    write(bob, declaring("w", { owner: "list" }));
    deepEqual(refusedOf(server, bob, { rules }), [["wrong-kind", 1]]);
    await bob.replica.close();
  }));

Deno.test("the gate bounds the fields of a collection over all its writers", () =>
  withItem((server, _, eve) => {
    const room = limits.collectionFieldsMax - shape.fields.length;
    const names = Array.from({ length: room + 1 }, (_, i) => `f${i}`);
    const fieldsOf = (from: number, to: number) =>
      Object.fromEntries(
        names.slice(from, to).map((name) => [name, "string" as const]),
      );
    for (let at = 0; at < room; at += limits.fieldsMax) {
      const to = Math.min(at + limits.fieldsMax, room);
      write(eve, declaring(`y${at}`, fieldsOf(at, to)));
    }
    deepEqual(refusedOf(server, eve), []);
    write(eve, declaring("z", fieldsOf(room, room + 1)));
    const [[reason]] = refusedOf(server, eve) as [[string]];
    equal(reason, "too-large");
  }));

Deno.test("a device shows its defaults for what is no value of its schema, forgets none of it, and reads it again after reopening", async () => {
  const [eve, ada, server] = [
    await RuledDevice.open({ seed: 1, reading: null }),
    await RuledDevice.open({ seed: 2 }),
    await RuledDevice.open({ seed: 3, reading: null }),
  ];
  const odd = shapeOf({ title: "list", owner: "number", votes: "string" });
  const item = { id: "x", title: ["not", "a", "title"], owner: 7, votes: "9" };
  write(eve, { what: "create", shape: odd, id: "x", generation: 0, item });
  const owner = { field: odd.fields[1]!, change: { what: "set", value: 8 } };
  const update = {
    what: "update",
    shape: odd,
    id: "y",
    generation: 0,
  } as const;
  const create = { ...item, id: "y" };
  write(eve, { ...update, what: "create", item: create });
  write(eve, { ...update, changes: [owner as never] });
  for (const device of [ada, server]) device.take(eve.records());
  const shown = () =>
    ["x", "y"].flatMap((id) =>
      ["title", "owner", "votes"].map((name) => ada.get(id, name))
    );
  const defaults = [undefined, "nobody", 0];
  for (const by of [undefined, "checkpoint", "log", "checkpoint"] as const) {
    if (by !== undefined) await ada.reopen(by);
    deepEqual(shown(), [...defaults, ...defaults]);
    deepEqual(ada.digests(), server.digests());
  }
  ada.put("y", { owner: "ada" });
  equal(ada.get("y", "owner"), "ada");
  server.take(ada.records());
  deepEqual(ada.digests(), server.digests());
  for (const device of [eve, ada, server]) await device.replica.close();
});

const most = limits.countMax;
const counted = shapeOf({ votes: "counter", seats: "counter" });

function createCounted(votes: number, id = "c", generation = 0): Operation {
  const item = { id, votes, seats: 0 };
  return { what: "create", shape: counted, id, generation, item };
}

/** Counts in one operation. */
function count(amount: number): Operation {
  const change = { what: "increment", amount } as const;
  const changes = [{ field: counted.fields[0]!, change }];
  return { what: "update", shape: counted, id: "c", generation: 0, changes };
}

/** Runs with a server that has a counter at 0, and three devices that know it. */
async function withCounter(
  work: (server: RuledDevice, ...devices: RuledDevice[]) => Promise<void>,
): Promise<void> {
  const devices = await Promise.all(
    [1, 2, 3, 4].map((seed) => RuledDevice.open({ seed, reading: null })),
  );
  const [server, ada, ...others] = devices;
  write(ada!, createCounted(0));
  deepEqual(refusedOf(server!, ada!), []);
  for (const device of others) device.take(ada!.records());
  await work(server!, ada!, ...others);
  for (const device of devices) await device.replica.close();
}

Deno.test("the gate keeps a counter within what numbers hold exactly, in whatever order devices come, and all replicas agree", async () => {
  const orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1]];
  for (const order of [...orders, [2, 1, 0]]) {
    await withCounter(async (server, ...devices) => {
      const [ada] = devices;
      const amounts = [most, 1, -2];
      devices.forEach((device, i) => write(device, count(amounts[i]!)));
      let sum = 0;
      for (const i of order) {
        const isOver = sum + amounts[i]! > most;
        // Of Ada's chain the create was accepted before.
        const refusal = ["too-large", devices[i] === ada ? 1 : 0];
        deepEqual(refusedOf(server, devices[i]!), isOver ? [refusal] : []);
        if (!isOver) sum += amounts[i]!;
      }
      equal(server.get("c", "votes"), sum);
      const reader = await RuledDevice.open({ seed: 9 });
      reader.take(server.records());
      equal(reader.get("c", "votes"), sum);
      const [digest] = server.digests();
      equal(reader.digests()[0], digest);
      for (const by of ["log", "checkpoint"] as const) {
        await server.reopen(by);
        equal(server.digests()[0], digest);
      }
      await reader.replica.close();
    });
  }
});

Deno.test("the gate adds up what one commit, one batch and creates count", () =>
  withCounter(async (server, ada, eve, bob) => {
    write(eve!, count(most), count(1)); // In one commit,
    write(bob!, createCounted(most)); // by another create,
    write(bob!, count(-most), count(most));
    write(ada!, count(most)); // and commit by commit.
    write(ada!, count(-1), count(2));
    deepEqual(refusedOf(server, eve!), [["too-large", 0]]);
    deepEqual(refusedOf(server, bob!), []);
    deepEqual(refusedOf(server, ada!), [["too-large", 1]]);
    equal(server.get("c", "votes"), most);
    const carol = await RuledDevice.open({ seed: 8, reading: null });
    carol.take(server.records());
    write(carol, { ...createCounted(0), what: "delete" });
    write(carol, count(most)); // Of what has ended.
    write(carol, createCounted(most, "c", 1));
    deepEqual(refusedOf(server, carol), []);
    equal(server.get("c", "votes"), most);
    await carol.replica.close();
  }));

Deno.test("a counter that went too far before anybody was asked may be counted back, and no further away", () =>
  withCounter(async (server, ada, eve, bob) => {
    write(ada!, count(-most));
    write(eve!, count(-most));
    server.take([...ada!.records(), ...eve!.records()]);
    bob!.take(server.records());
    equal(server.get("c", "votes"), -2 * most);
    const honest = await RuledDevice.open({ seed: 9 });
    honest.take(server.records());
    throws(() => honest.put("c", { votes: { increment: -1 } }), {
      code: "value-too-large",
    });
    honest.put("c", { votes: { increment: most } });
    write(bob!, count(-1));
    deepEqual(refusedOf(server, bob!), [["too-large", 0]]);
    deepEqual(refusedOf(server, honest), []);
    equal(server.get("c", "votes"), -most);
    await honest.replica.close();
  }));
