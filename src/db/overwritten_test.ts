import { deepEqual, equal } from "node:assert/strict";
import {
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type World,
} from "../../mod.ts";
import { system } from "../base/system.ts";
import { replicaOf } from "./internals.ts";
import type { OverwrittenEdit } from "./overwritten.ts";
import { filesWith } from "../../tests/kit/found_text.ts";
import { filesOf } from "../../tests/kit/images.ts";
import { faultyStorage } from "../../tests/kit/mod.ts";
import { Card, Device, root, ticking } from "../../tests/undo_device.ts";
import { trips, until } from "../../tests/kit/patience.ts";

/** Two people's devices, which know the same card. */
async function pair() {
  const world = ticking();
  const [me, they] = [new Device(world), new Device(world)];
  await me.open();
  await they.open();
  await me.cards.create({ id: "a", title: "old", steps: ["1", "2", "3"] });
  await me.tell(they);
  return {
    me,
    they,
    async [Symbol.asyncDispose]() {
      await me.database.close();
      await they.database.close();
    },
  };
}

/** What an edit that lost says, without who and when. */
function plain(edit: OverwrittenEdit<unknown>): unknown {
  const { kind, id, before, after } = edit;
  if (edit.kind === "deleted") return [kind, id, before];
  const { field, key } = edit;
  return [kind, id, key === undefined ? field : [field, key], before, after];
}

/** Listens, and keeps what is told. */
function listen(device: Device) {
  const told: unknown[] = [];
  const end = device.cards.onOverwritten((edits) => {
    for (const edit of edits) told.push(plain(edit));
  });
  return { told, end };
}

Deno.test("onOverwritten() tells of a field that somebody wrote who had not seen it, and of no other", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told } = listen(me);
  me.cards.update("a", { title: "mine", rank: 1 });
  they.cards.update("a", { title: "theirs" });
  await they.tell(me);
  await until(() => told.length > 0, "it is told");
  deepEqual(told.splice(0), [["overwritten", "a", "title", "mine", "theirs"]]);
  await me.tell(they);
  they.cards.update("a", { rank: 2, title: "again" });
  await they.tell(me);
  await trips();
  deepEqual(told, []);
});

Deno.test("onOverwritten() tells who wrote what stands now, and when", async () => {
  await using at = await pair();
  const { me, they } = at;
  me.cards.update("a", { title: "mine" });
  they.cards.update("a", { title: "theirs" });
  const written = they.cards.history("a").at(-1)!;
  const told: OverwrittenEdit<unknown>[] = [];
  me.cards.onOverwritten((edits) => void told.push(...edits));
  await they.tell(me);
  await until(() => told.length > 0, "it is told");
  const [{ by, at: when }] = told as [OverwrittenEdit<unknown>];
  deepEqual(by, {
    user: undefined, // Nobody proves who he is in Trusted mode.
    session: [...they.database.sessionKey].map((byte) =>
      byte.toString(16).padStart(2, "0")
    ).join(""),
  });
  deepEqual(when, written.at);
});

Deno.test("onOverwritten() tells of a deleted item as it was, whatever was written to it unseen", async () => {
  const writes: [string, (device: Device) => unknown][] = [
    ["a field", ({ cards }) => cards.update("a", { title: "mine" })],
    [
      "a counter",
      ({ cards }) => cards.update("a", { votes: { increment: 3 } }),
    ],
    ["a set", ({ cards }) => cards.update("a", { tags: { add: ["x"] } })],
    ["a text", ({ cards }) => cards.update("a", { note: "typed" })],
    ["a map", ({ cards }) => cards.update("a", { notes: { k: "v" } })],
    ["a list", ({ cards }) => cards.update("a", { steps: ["1", "2"] })],
  ];
  for (const [name, write] of writes) {
    await using at = await pair();
    const { me, they } = at;
    const { told } = listen(me);
    await write(me);
    const before = me.cards.get("a")!;
    they.cards.delete("a");
    await they.tell(me);
    await until(() => told.length > 0, `${name} is told`);
    deepEqual(told, [["deleted", "a", { ...before }]]);
    equal(me.cards.has("a"), false);
  }
});

Deno.test("onOverwritten() says nothing of a deletion by somebody who had seen all", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told } = listen(me);
  me.cards.update("a", { title: "mine", votes: { increment: 3 }, note: "n" });
  await me.tell(they);
  they.cards.delete("a");
  await they.tell(me);
  await trips();
  equal(me.cards.has("a"), false);
  deepEqual(told, []);
});

Deno.test("onOverwritten() tells of moves, elements and keys that came second", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told } = listen(me);
  me.cards.update("a", {
    steps: { move: [{ from: 0, to: 2 }] },
    notes: { k: "mine" },
  });
  they.cards.update("a", {
    steps: { move: [{ from: 0, to: 1 }] },
    notes: { k: "theirs", l: "more" },
  });
  await they.tell(me);
  await until(() => told.length > 0, "both are told");
  deepEqual(told, [
    ["overwritten", "a", ["notes", "k"], "mine", "theirs"],
    ["moved", "a", "steps", 2, 1],
  ]);
});

Deno.test("onOverwritten() says nothing of what merges, nor of equal values", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told } = listen(me);
  for (const { cards } of [me, they]) {
    cards.update("a", {
      title: "same",
      votes: { increment: 1 },
      tags: { add: ["x"] },
      note: "typed",
      steps: { insert: [{ at: 0, value: "new" }] },
    });
  }
  await they.tell(me);
  await trips();
  deepEqual(told, []);
});

Deno.test("onOverwritten() keeps what was not taken over a reload, and tells it once", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { end } = listen(me);
  await trips();
  end();
  await trips();
  me.cards.update("a", { title: "mine" });
  they.cards.update("a", { title: "theirs", rank: 7 });
  await they.tell(me);
  await me.database.close();
  await me.open();
  const first = listen(me);
  await until(() => first.told.length > 0, "it is told");
  deepEqual(first.told, [["overwritten", "a", "title", "mine", "theirs"]]);
  await me.database.close();
  await me.open();
  const second = listen(me);
  await trips();
  deepEqual(second.told, []);
});

Deno.test("onOverwritten() finds what arrived before anybody listened, since the repository was opened", async () => {
  await using at = await pair();
  const { me, they } = at;
  me.cards.update("a", { title: "mine", votes: { increment: 1 } });
  they.cards.update("a", { title: "theirs" });
  they.cards.delete("a");
  await they.tell(me);
  const { told } = listen(me);
  await until(() => told.length === 2, "both are told");
  deepEqual(told[0], ["overwritten", "a", "title", "mine", undefined]);
});

Deno.test("onOverwritten() tells again what a listener failed at, when there is more", async () => {
  await using at = await pair();
  const { me, they } = at;
  const told: unknown[] = [];
  let isFailing = true;
  const errors = me.errors;
  me.cards.onOverwritten((edits) => {
    if (isFailing) throw new Error("not now");
    told.push(...edits.map(plain));
  });
  me.cards.update("a", { title: "mine" });
  they.cards.update("a", { title: "theirs" });
  await they.tell(me);
  await until(() => errors.length > 0, "it failed");
  await trips();
  equal(errors.length, 1);
  isFailing = false;
  me.cards.update("a", { rank: 1 });
  they.cards.update("a", { rank: 2 });
  await they.tell(me);
  await until(() => told.length > 0, "both are told");
  deepEqual(told, [
    ["overwritten", "a", "title", "mine", "theirs"],
    ["overwritten", "a", "rank", 1, 2],
  ]);
});

Deno.test("onOverwritten() tells each field once: what was written last, and what stands now", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told, end } = listen(me);
  await trips();
  end();
  await trips();
  for (const round of [1, 2]) {
    me.cards.update("a", { title: `mine ${round}` });
    they.cards.update("a", { title: `theirs ${round}` });
    await they.tell(me);
  }
  me.cards.update("a", { rank: 1 });
  they.cards.update("a", { rank: 2 });
  await they.tell(me);
  me.cards.update("a", { rank: 3 }); // Seen, and written again.
  const again = listen(me);
  await until(() => again.told.length > 0, "it is told");
  deepEqual(again.told, [
    ["overwritten", "a", "title", "mine 2", "theirs 2"],
  ]);
  deepEqual(told, []);
});

Deno.test("onOverwritten() says nothing of an item that was deleted here, too", async () => {
  await using at = await pair();
  const { me, they } = at;
  me.cards.update("a", { notes: { k: "mine" } });
  they.cards.update("a", { notes: { k: "theirs" } });
  await they.tell(me);
  me.cards.delete("a");
  const { told } = listen(me);
  await trips();
  deepEqual(told, []);
});

Deno.test("onOverwritten() tells of writes that no honest app makes", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { told } = listen(me);
  const replica = replicaOf(they.repository);
  const table = replica.state.table("card");
  const { shape } = Card;
  me.cards.update("a", { title: "mine" });
  // A field of another merge class takes the place of a register for ever.
  replica.transact((tx) => {
    const cell = tx.cellOf(table, "a")!;
    const field = { name: "title", kind: "list" } as const;
    const change = { what: "delete", elements: ["none"] } as const;
    const changes = [{ field, change }];
    const { id, generation } = cell;
    const lie = { ...shape, fields: [field] };
    const update = { what: "update", id, generation, changes } as const;
    tx.put(table, { ...update, shape: lie }, cell);
  });
  await they.tell(me);
  await until(() => told.length > 0, "the field is told");
  deepEqual(told.splice(0), [
    ["overwritten", "a", "title", "mine", undefined],
  ]);
  me.cards.update("a", { rank: 5 });
  const before = { ...me.cards.get("a")! };
  // A next generation over an item that nobody deleted.
  replica.transact((tx) => {
    const cell = tx.cellOf(table, "a")!;
    const item = Object.freeze({ ...Card.template, id: "a", title: "theirs" });
    tx.put(
      table,
      { what: "create", shape, id: "a", generation: 7, item },
      cell,
    );
  });
  await they.tell(me);
  await until(() => told.length > 0, "the item is told");
  deepEqual(told, [["deleted", "a", before]]);
});

Deno.test("onOverwritten() keeps no more than it may, and says how many are missing", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { end } = listen(me);
  await trips();
  end();
  await trips();
  const ids = Array.from({ length: 1_100 }, (_, i) => `n${i}`);
  me.cards.createMany(ids.map((id) => ({ id })));
  await me.tell(they);
  for (const [device, title] of [[me, "mine"], [they, "theirs"]] as const) {
    device.repository.transact((tx) => {
      for (const id of ids) tx.collection(Card).update(id, { title });
    });
  }
  await they.tell(me);
  await me.database.close();
  await me.open();
  const counts: number[] = [];
  const told: string[] = [];
  me.cards.onOverwritten((edits, dropped) => {
    counts.push(edits.length, dropped);
    told.push(...edits.map(({ id }) => id));
  });
  await until(() => told.length > 0, "the newest are told");
  deepEqual(counts, [1_000, 100]);
  deepEqual([told[0], told.at(-1)], ["n100", "n1099"]);
  await trips();
  deepEqual(counts, [1_000, 100]);
});

Deno.test("onOverwritten() loses nothing from its first call on, however its process ends", async () => {
  const world: World = {
    ...ticking(),
    // What is written down later is never written down.
    after: (ms, task) => ms < 1_000 ? system.after(ms, task) : () => {},
  };
  const they = await new Device(world).open();
  const storage = faultyStorage();
  const me = await new Device(world, storage).open();
  await me.cards.create({ id: "a" });
  await me.tell(they);
  me.cards.onOverwritten(() => new Promise(() => {})); // It never takes it.
  await until(
    () => filesOf(storage).some(([name]) => name.endsWith("/overwritten")),
    "it is noted where to look",
  );
  me.cards.update("a", { title: "mine" });
  they.cards.update("a", { title: "theirs" });
  await they.tell(me);
  await me.repository.durable();
  const after = new Device(world, storage.afterPowerCut("synced"));
  await after.open();
  const { told } = listen(after);
  await until(() => told.length > 0, "it is told");
  deepEqual(told, [["overwritten", "a", "title", "mine", "theirs"]]);
  await after.database.close();
  await they.database.close();
});

Deno.test("onOverwritten() begins anew where its file is of no use", async () => {
  for (const spoil of ["removed", "damaged"]) {
    const storage = memoryStorage();
    const world = ticking();
    const they = await new Device(world).open();
    const me = await new Device(world, storage).open();
    await me.cards.create({ id: "a" });
    await me.tell(they);
    listen(me).end();
    await trips();
    me.cards.update("a", { title: "mine" });
    they.cards.update("a", { title: "theirs" });
    await they.tell(me);
    await me.database.close();
    const [name] = filesOf(storage).map(([name]) => name)
      .filter((name) => name.endsWith("/overwritten"));
    if (spoil === "removed") storage.remove(name!);
    else {
      const file = storage.open(name!)!;
      file.writeAt(new Uint8Array([7]), 50);
      file.close();
    }
    await me.open();
    const { told } = listen(me);
    me.cards.update("a", { rank: 1 });
    they.cards.update("a", { rank: 2 });
    await they.tell(me);
    await until(() => told.length > 0, "what comes now is told");
    deepEqual([spoil, told], [spoil, [["overwritten", "a", "rank", 1, 2]]]);
    await me.database.close();
    await they.database.close();
  }
});

Deno.test("a repository in which nobody listens notes nothing and looks at nothing", async () => {
  await using at = await pair();
  const { me, they } = at;
  me.cards.update("a", { title: "mine" });
  they.cards.update("a", { title: "theirs" });
  await they.tell(me);
  const { state, loaded } = replicaOf(me.repository);
  equal(state.watch, undefined);
  await me.repository.durable();
  const names = me.storage.list(loaded.folder);
  equal(names.some((name) => name.startsWith("overwritten")), false);
});

Deno.test("onOverwritten() gives copies: who is told cannot change an item", async () => {
  const Event = defineSchema("event", { due: field.date() });
  const world = ticking();
  const open = async () => {
    const rootKey = new Uint8Array(32).fill(9);
    const storage = memoryStorage();
    const options = { rootKey, mode: "trusted", world } as const;
    const db = await openDatabase({ ...options, storage, schemas: [Event] });
    const repo = await db.repository("board");
    return { db, repo, events: repo.collection(Event) };
  };
  const [me, they] = [await open(), await open()];
  const tell = async (from: typeof me, to: typeof me) => {
    await from.repo.durable();
    const { records } = replicaOf(from.repo).port().read(0, Infinity);
    replicaOf(to.repo).receive(records);
  };
  me.events.create({ id: "a", due: new Date(1) });
  await tell(me, they);
  me.events.update("a", { due: new Date(2) });
  they.events.update("a", { due: new Date(3) });
  const told: Date[] = [];
  me.events.onOverwritten(([edit]) => {
    for (const date of [edit!.before, edit!.after]) {
      if (date instanceof Date) told.push(new Date(date), date);
    }
    for (const date of told) date.setTime(date.getTime() + 100);
  });
  await tell(they, me);
  await until(() => told.length > 0, "it is told");
  deepEqual(told.map((date) => date.getTime()), [102, 102, 103, 103]);
  deepEqual(me.events.get("a")!.due, new Date(3));
  for (const { db } of [me, they]) await db.close();
});

Deno.test("onOverwritten() says nothing of a write that the server refused, and tells of those that were written again once", async () => {
  await using at = await pair();
  const { me, they } = at;
  const { end } = listen(me);
  await trips();
  end();
  await trips();
  const replica = replicaOf(me.repository);
  me.cards.update("a", { title: "refused" });
  const { chain } = replica.device;
  const number = replica.graph.lengthOf(chain) - 1;
  me.cards.update("a", { rank: 1 });
  they.cards.update("a", { title: "theirs", rank: 2 });
  await they.tell(me);
  await trips(); // Both were found.
  const [reason, rule, detail] = ["denied", "card", "No"];
  replica.refuse(chain, [
    { number, reason, rule, detail, kept: false },
  ]);
  equal(me.cards.get("a")!.rank, 2);
  const { told } = listen(me);
  await until(() => told.length > 0, "what stands lost is told");
  deepEqual(told, [["overwritten", "a", "rank", 1, 2]]);
  await me.database.close();
  await me.open();
  const again = listen(me);
  await trips();
  deepEqual(again.told, []);
});

Deno.test("onOverwritten() tells nothing of what is erased, and its file keeps nothing of it", async () => {
  await using at = await pair();
  const { me, they } = at;
  const secret = "wild rose lane";
  me.cards.update("a", { title: secret });
  they.cards.update("a", { title: "theirs" });
  let told = 0;
  const end = me.cards.onOverwritten(() => {
    told++;
    throw new Error("not now");
  });
  await they.tell(me);
  await me.tell(they);
  await until(() => told > 0, "it is told");
  end();
  await me.database.close();
  const { storage } = me;
  const kept = filesWith(storage, secret);
  equal(kept.some((name) => name.includes("overwritten")), true);
  await me.open();
  const items = [{ collection: Card.name, id: "a" }];
  await replicaOf(me.repository).redact(items, root, "");
  deepEqual(filesWith(storage, secret), []);
});
