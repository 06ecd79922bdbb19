import { deepEqual, equal, strictEqual, throws } from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  rulesFor,
  type Storage,
} from "../../mod.ts";
import { folderOf, parseRepositoryName } from "../../repo/commit/genesis.ts";
import { limits } from "../base/limits.ts";
import { system } from "../base/system.ts";
import type { World } from "../base/world.ts";
import { replicaOf } from "./internals.ts";
import { faultyStorage } from "../../tests/kit/mod.ts";
import { until } from "../../tests/kit/patience.ts";

const Card = defineSchema("card", {
  title: field.string().default(""),
  rank: field.number().default(0),
  due: field.date().optional(),
  votes: field.counter(),
  tags: field.set(field.string()),
  notes: field.map(field.string()),
  steps: field.list(field.string()),
});

/** A clock that stands still until it is told. */
function standing(): World & { move(ms: number): void } {
  let moved = 0;
  const start = system.now();
  return {
    now: () => start + moved,
    monotonic: () => moved,
    random: (target) => system.random(target),
    after: (delayMs, task) => system.after(delayMs, task),
    move: (ms) => void (moved += ms),
  };
}

function isThere(storage: Storage, name: string): boolean {
  const file = storage.open(name);
  file?.close();
  return file !== undefined;
}

async function place(storage: Storage = memoryStorage()) {
  const world = standing();
  const db = await openDatabase({ storage, schemas: [Card], world });
  const repo = await db.repository("me");
  const { undo } = repo;
  await undo.ready;
  const cards = repo.collection(Card);
  const plain = (id: string) =>
    JSON.parse(JSON.stringify(cards.get(id) ?? null));
  return {
    db,
    repo,
    undo,
    cards,
    world,
    plain,
    [Symbol.asyncDispose]: () => db.close(),
  };
}

function undoNameOf(name: string): string {
  return `repositories/${folderOf(parseRepositoryName(name))}/undo`;
}

Deno.test("undo() takes changes of every kind back, and redo() does them again", async () => {
  await using at = await place();
  const { cards, undo, plain, world } = at;
  const states = [plain("a")];
  const changes: (() => unknown)[] = [
    () =>
      cards.create({
        id: "a",
        title: "one",
        due: new Date(5),
        tags: ["x", "y"],
        notes: { k: "v" },
        steps: ["1", "2", "3"],
      }),
    () => cards.update("a", { title: "two" }),
    () => cards.update("a", { title: "three", rank: 3, due: undefined }),
    () => cards.update("a", { votes: { increment: 5 } }),
    () => cards.update("a", { tags: { add: ["z"], remove: ["x"] } }),
    () => cards.update("a", { tags: { remove: ["z", "y"] } }),
    () => cards.update("a", { notes: { k: "w", l: "new" } }),
    () => cards.update("a", { notes: { l: "newer" } }),
    () => cards.update("a", { steps: ["3", "1", "2", "4"] }),
    () => cards.update("a", { steps: ["3", "4", "5"] }),
    () => cards.delete("a"),
  ];
  for (const change of changes) {
    change();
    states.push(plain("a"));
    world.move(5_000);
  }
  for (let round = 0; round < 3; round++) {
    for (const state of states.slice(0, -1).reverse()) {
      deepEqual(undo.undo()!.result.leftAlone, []);
      deepEqual(plain("a"), state);
    }
    equal(undo.undo(), undefined);
    for (const state of states.slice(1)) {
      deepEqual(undo.redo()!.result.leftAlone, []);
      deepEqual(plain("a"), state);
    }
    equal(undo.redo(), undefined);
  }
});

Deno.test("undo() leaves no step to redo when something else is written", async () => {
  await using at = await place();
  at.cards.create({ id: "a" });
  at.undo.undo();
  equal(at.undo.canRedo, true);
  at.cards.create({ id: "b" });
  equal(at.undo.canRedo, false);
  equal(at.undo.redo(), undefined);
});

Deno.test("undo() takes a transaction over several items back as one, and a group likewise", async () => {
  await using at = await place();
  const { cards, repo, undo } = at;
  repo.transact((tx) => {
    const inside = tx.collection(Card);
    inside.create({ id: "a", title: "A" });
    inside.create({ id: "b" });
    inside.update("a", { title: "AA" });
  });
  await undo.group(async () => {
    cards.update("a", { title: "B" });
    await Promise.resolve();
    cards.delete("b");
    cards.update("a", { title: "C" });
  });
  at.world.move(5_000);
  cards.update("a", { rank: 2 });
  undo.undo();
  deepEqual([cards.get("a")?.rank, cards.get("a")?.title, cards.count()], [
    0,
    "C",
    1,
  ]);
  undo.undo();
  deepEqual([cards.get("a")?.title, cards.has("b")], ["AA", true]);
  undo.undo();
  equal(cards.count(), 0);
  undo.redo();
  undo.redo();
  deepEqual([cards.get("a")?.title, cards.count()], ["C", 1]);
  throws(() =>
    undo.group(() => {
      throw new Error("mine");
    }), /mine/);
  undo.redo();
  equal(cards.get("a")?.rank, 2);
});

Deno.test("undo() takes quick writes in one field back as one step, and no others", async () => {
  await using at = await place();
  const { cards, undo, world } = at;
  cards.create({ id: "a" });
  for (const title of ["h", "he", "hey"]) {
    cards.update("a", { title });
    world.move(900);
  }
  cards.update("a", { rank: 1 });
  cards.update("a", { title: "hey!" });
  world.move(1_000);
  cards.update("a", { title: "hey!!" });
  for (let i = 0; i < 30; i++) {
    world.move(i === 0 ? 1_000 : 500);
    cards.update("a", { title: `typing ${i}` });
  }
  undo.undo();
  equal(cards.get("a")?.title, "typing 19"); // Ten seconds are a step.
  undo.undo();
  const titles: unknown[] = [cards.get("a")?.title];
  while (undo.undo() !== undefined) titles.push(cards.get("a")?.title);
  deepEqual(titles, ["hey!!", "hey!", "hey", "hey", "", undefined]);
});

Deno.test("undo() works again in a database that was closed and opened, with values of all kinds", async () => {
  const storage = memoryStorage();
  {
    await using at = await place(storage);
    const { cards, undo, world } = at;
    const item = {
      title: "$",
      tags: ["x"],
      notes: { $u: "v" },
      steps: ["1", "2"],
      due: new Date(5),
    };
    cards.create({ id: "a", ...item });
    world.move(5_000);
    cards.update("a", {
      title: "two",
      tags: [],
      notes: {},
      steps: ["2"],
      due: undefined,
    });
    world.move(5_000);
    cards.delete("a");
    world.move(5_000);
    cards.create({ id: "b" });
    undo.undo();
  }
  await using at = await place(storage);
  const { cards, undo } = at;
  deepEqual(undo.getSnapshot(), { canUndo: true, canRedo: true });
  undo.redo();
  equal(cards.has("b"), true);
  undo.undo();
  undo.undo();
  deepEqual(cards.get("a")?.title, "two");
  deepEqual(undo.undo()!.result.leftAlone, []);
  const { id: _, ...rest } = cards.get("a")!;
  deepEqual(rest.due, new Date(5));
  deepEqual({ ...rest.notes }, { $u: "v" });
  deepEqual([rest.title, rest.tags, rest.steps], ["$", ["x"], ["1", "2"]]);
  undo.undo();
  equal(cards.count(), 0);
  for (let i = 0; i < 3; i++) deepEqual(undo.redo()!.result.leftAlone, []);
  equal(cards.count(), 0);
});

Deno.test("undo() after a reload without its file, or with a damaged one, has nothing to undo", async () => {
  for (const spoil of ["missing", "damaged", "other"]) {
    const storage = memoryStorage();
    {
      await using at = await place(storage);
      at.cards.create({ id: "a" });
    }
    const name = undoNameOf("me");
    const file = storage.open(name)!;
    if (spoil === "damaged") file.writeAt(new Uint8Array([7]), 50);
    file.close();
    if (spoil === "missing") storage.remove(name);
    if (spoil === "other") {
      await using db = await openDatabase({ storage, schemas: [Card] });
      const repo = await db.repository("other");
      await repo.undo.ready;
      repo.collection(Card).create({ id: "b" });
      await repo.close();
      storage.rename(undoNameOf("other"), name);
    }
    await using at = await place(storage);
    deepEqual([spoil, at.undo.canUndo], [spoil, false]);
    equal(at.cards.has("a"), true);
  }
});

Deno.test("undo() after a crash takes back nothing that was not durable", async () => {
  const held: (() => void)[] = [];
  let isHeld = false;
  const storage = faultyStorage({
    slow: (done) => isHeld ? void held.push(done) : done(),
  });
  const tasks: (() => void)[] = [];
  const world: World = {
    ...system,
    after: (delayMs, task) => {
      if (delayMs !== limits.undoSaveMs) return system.after(delayMs, task);
      tasks.push(task);
      return () => {};
    },
  };
  const db = await openDatabase({ storage, schemas: [Card], world });
  const repo = await db.repository("me");
  await repo.undo.ready;
  const cards = repo.collection(Card);
  await cards.create({ id: "a" });
  isHeld = true;
  void cards.update("a", { votes: { increment: 1 } });
  // When its sync has begun, what is written waits for the next one.
  await until(() => held.length === 1, "its sync begins");
  void cards.update("a", { votes: { increment: 5 } });
  for (const task of tasks.splice(0)) task(); // The steps are to be kept.
  await new Promise((resolve) => setTimeout(resolve, 0));
  equal(held.length, 1);
  isHeld = false;
  await using after = await place(storage.nextProcess());
  const { votes } = after.plain("a");
  after.undo.undo();
  equal(after.plain("a").votes, votes);
});

Deno.test("undo() after a reload takes nothing back twice where its file could not be written, or a crash came first", async () => {
  for (const cause of ["full", "crash"]) {
    const storage = faultyStorage();
    const tasks: (() => void)[] = [];
    const world: World = {
      ...system,
      after: (delayMs, task) => {
        if (delayMs !== limits.undoSaveMs) return system.after(delayMs, task);
        tasks.push(task);
        return () => {};
      },
    };
    const db = await openDatabase({ storage, schemas: [Card], world });
    const repo = await db.repository("me");
    await repo.undo.ready;
    const cards = repo.collection(Card);
    await cards.create({ id: "a" });
    await cards.update("a", { votes: { increment: 6 } });
    for (const task of tasks.splice(0)) task();
    const name = undoNameOf("me");
    await until(() => isThere(storage, name), "its file is written");
    storage.isFull = cause === "full";
    await repo.undo.undo(); // The log has room left.
    if (cause === "full") await db.close();
    storage.isFull = false;
    await using after = await place(storage.nextProcess());
    equal(after.plain("a").votes, 0);
    after.undo.undo();
    deepEqual([cause, after.plain("a")?.votes], [cause, 0]);
    await after.cards.update("a", { votes: { increment: 1 } });
    after.undo.undo();
    equal(after.plain("a").votes, 0);
  }
});

Deno.test("undo() tells who listens when something else can be done, and then only", async () => {
  await using at = await place();
  const { cards, undo } = at;
  const seen: unknown[] = [];
  undo.subscribe(() => seen.push({ ...undo.getSnapshot() }));
  const settle = () => new Promise<void>((resolve) => queueMicrotask(resolve));
  cards.create({ id: "a" });
  await settle();
  const before = undo.getSnapshot();
  cards.update("a", { rank: 1 });
  await settle();
  strictEqual(undo.getSnapshot(), before);
  undo.undo();
  await settle();
  undo.undo();
  await settle();
  deepEqual(seen, [
    { canUndo: true, canRedo: false },
    { canUndo: true, canRedo: true },
    { canUndo: false, canRedo: true },
  ]);
});

Deno.test("undo() asks rules; a step that they deny is forgotten", async () => {
  const rules = defineRules({
    me: {
      collections: [rulesFor(Card, {
        create: () => true,
        update: ({ after }) => after.rank !== 0 || "not back to 0",
        delete: () => true,
      })],
    },
  });
  const storage = memoryStorage();
  await using db = await openDatabase({ storage, schemas: [Card], rules });
  const repo = await db.repository("me");
  const [cards, { undo }] = [repo.collection(Card), repo];
  cards.create({ id: "a" });
  cards.update("a", { rank: 1 });
  await undo.ready; // What was written before is known.
  throws(() => undo.undo(), { code: "denied" });
  equal(cards.get("a")?.rank, 1);
  undo.undo();
  equal(cards.count(), 0);
  await repo.close();
  throws(() => undo.undo(), { code: "closed" });
});

Deno.test("undo() keeps no more than it may: old steps are forgotten, an import cannot be undone", async () => {
  await using at = await place();
  const { cards, undo, world } = at;
  cards.create({ id: "a" });
  for (let rank = 1; rank <= 250; rank++) {
    cards.update("a", { rank });
    world.move(5_000);
  }
  let steps = 0;
  while (undo.undo() !== undefined) steps++;
  deepEqual([steps, cards.get("a")?.rank], [200, 50]);
  cards.createMany(Array.from({ length: 10_001 }, (_, i) => ({ id: `n${i}` })));
  equal(undo.canUndo, false);
  cards.createMany(Array.from({ length: 1_000 }, (_, i) => ({ id: `m${i}` })));
  equal(undo.undo()!.result.changed, 1_000);
  equal(cards.count(), 10_002);
  for (const name of ["o", "p"]) {
    cards.createMany(
      Array.from({ length: 6_000 }, (_, i) => ({ id: `${name}${i}` })),
    );
  }
  equal(undo.undo()!.result.changed, 6_000);
  equal(undo.undo(), undefined); // Both were more than is kept.
});

Deno.test("undo() that failed can be tried again, and nothing is mixed up by it", async () => {
  await using at = await place();
  const { cards, undo, world, repo } = at;
  cards.create({ id: "a" });
  for (const title of ["one", "two"]) {
    world.move(5_000);
    cards.update("a", { title });
  }
  cards.delete("a");
  const replica = replicaOf(repo);
  const transact = replica.transact.bind(replica);
  replica.transact = (run) =>
    transact((tx) => {
      run(tx);
      throw new Error("not now");
    });
  throws(() => undo.undo(), /not now/);
  replica.transact = transact;
  for (const title of ["two", "one", ""]) {
    deepEqual(undo.undo()!.result.leftAlone, []);
    equal(cards.get("a")?.title, title);
  }
});
