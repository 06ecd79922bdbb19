/**
 * Undo among others, case by case: what they changed since is left alone, and
 * the result says so.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { limits } from "../src/base/limits.ts";
import { Device, ticking } from "./undo_device.ts";

/** Me and them, who know of each other's cards. */
async function place() {
  const world = ticking();
  const me = await new Device(world).open();
  const them = await new Device(world).open();
  const meet = async () => {
    await me.tell(them);
    await them.tell(me);
  };
  return {
    me,
    them,
    meet,
    undo: me.repository.undo,
    [Symbol.asyncDispose]: async () => {
      await me.database.close();
      await them.database.close();
    },
  };
}

Deno.test("undo leaves alone what somebody else changed since, field by field, and says so", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  them.cards.create({ id: "a", title: "theirs", notes: { k: "1", l: "1" } });
  await meet();
  me.cards.update("a", {
    title: "mine",
    rank: 3,
    votes: { increment: 2 },
    notes: { k: "2", l: "2" },
    tags: { add: ["x", "y"] },
  });
  await meet();
  them.cards.update("a", {
    title: "theirs again",
    votes: { increment: 5 },
    notes: { k: "3", l: "2" },
    tags: { remove: ["y"], add: ["z"] },
  });
  await meet();
  const { changed, leftAlone } = undo.undo()!.result;
  deepEqual(leftAlone.map(({ field }) => field).sort(), [
    "notes",
    "tags",
    "title",
  ]);
  equal(changed, 4);
  const { title, rank, votes, notes, tags } = me.cards.get("a")!;
  deepEqual([title, rank, votes, { ...notes }, [...tags]], [
    "theirs again",
    0,
    5,
    { k: "3", l: "1" },
    ["z"],
  ]);
  undo.redo();
  const again = me.cards.get("a")!;
  deepEqual([again.title, again.rank, again.votes], ["theirs again", 3, 7]);
  await meet();
  deepEqual(them.board, me.board);
});

Deno.test("undo counts a counter back no further than counters count, and says so", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  const most = limits.countMax;
  them.cards.create({ id: "a", votes: most });
  await meet();
  me.cards.update("a", { votes: { increment: -5 } });
  await meet();
  them.cards.update("a", { votes: { increment: 3 } });
  await meet();
  const { leftAlone } = undo.undo()!.result;
  deepEqual(leftAlone.map(({ field }) => field), ["votes"]);
  equal(me.cards.get("a")!.votes, most - 2);
});

Deno.test("undo keeps an item that it would delete where somebody else wrote to it", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  me.cards.create({ id: "a" });
  me.cards.create({ id: "b" });
  me.cards.update("b", { title: "mine" });
  await meet();
  them.cards.update("a", { title: "theirs" });
  await meet();
  undo.undo();
  undo.undo();
  deepEqual(undo.undo()!.result, {
    changed: 0,
    leftAlone: [{ collection: "card", id: "a", field: undefined }],
  });
  deepEqual(me.cards.keys(), ["a"]);
});

Deno.test("undo of a change in an item that somebody deleted leaves it deleted", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  them.cards.createMany([{ id: "a" }, { id: "b" }]);
  await meet();
  me.cards.update("a", { title: "mine" });
  me.cards.delete("b");
  await meet();
  them.cards.delete("a");
  them.cards.create({ id: "b", title: "theirs" });
  await meet();
  for (const id of ["b", "a"]) {
    equal(undo.undo()!.result.leftAlone[0]?.id, id);
  }
  deepEqual(me.cards.all().map(({ title }) => title), ["theirs"]);
});

Deno.test("undo of a list takes back my elements only, and those of them that nobody else changed", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  them.cards.create({ id: "a", steps: ["1", "2", "3"] });
  await meet();
  const insert = [{ at: 2, value: "new" }, { at: 3, value: "newer" }];
  me.cards.update("a", {
    steps: { delete: [1], move: [{ from: 1, to: 0 }], insert },
  });
  deepEqual(me.cards.get("a")!.steps, ["3", "1", "new", "newer"]);
  await meet();
  const replace = [{ at: 3, value: "changed" }];
  them.cards.update("a", {
    steps: { replace, insert: [{ at: 1, value: "4" }] },
  });
  await meet();
  const { leftAlone } = undo.undo()!.result;
  deepEqual(me.cards.get("a")!.steps.filter((step) => step !== "changed"), [
    "4",
    "1",
    "2",
    "3",
  ]);
  equal(leftAlone.length, 1);
  ok(me.cards.get("a")!.steps.includes("changed"));
  undo.redo();
  const { steps } = me.cards.get("a")!;
  deepEqual([steps.includes("2"), steps.includes("new"), steps.includes("4")], [
    false,
    true,
    true,
  ]);
});

Deno.test("undo of quick writes stops where somebody else wrote in between", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  them.cards.create({ id: "a", title: "" });
  await meet();
  await undo.group(async () => {
    me.cards.update("a", { title: "h" });
    await meet();
    them.cards.update("a", { title: "theirs" });
    await meet();
    me.cards.update("a", { title: "he" });
  });
  undo.undo();
  equal(me.cards.get("a")?.title, "theirs");
});

Deno.test("undo of a group takes back what it undid itself: a value added and removed, an element replaced and deleted", async () => {
  await using at = await place();
  const { me, undo } = at;
  me.cards.create({ id: "a", steps: ["1", "2"] });
  undo.group(() => {
    me.cards.update("a", { tags: { add: ["x"] } });
    me.cards.update("a", { tags: { remove: ["x"] } });
    me.cards.update("a", { steps: { replace: [{ at: 0, value: "one" }] } });
    me.cards.update("a", { steps: { delete: [0] } });
  });
  deepEqual(me.cards.get("a")?.steps, ["2"]);
  deepEqual(undo.undo()!.result.leftAlone, []);
  deepEqual(me.cards.get("a")?.steps, ["1", "2"]);
  deepEqual(me.cards.get("a")?.tags, []);
  undo.redo();
  deepEqual(me.cards.get("a")?.steps, ["2"]);
});

Deno.test("undo of a text takes my edits out of it, wherever they are now, and those of nobody else", async () => {
  await using at = await place();
  const { me, them, meet, undo } = at;
  them.cards.create({ id: "a", note: "The fox jumps." });
  await meet();
  me.cards.update("a", { note: "The quick fox jumps." });
  me.cards.update("a", { note: "The quick fox jumps over me." });
  await meet();
  them.cards.update("a", { note: "Once: The quick fox jumps over me." });
  await meet();
  const note = () => me.cards.get("a")?.note;
  undo.undo();
  equal(note(), "Once: The quick fox jumps.");
  undo.undo();
  equal(note(), "Once: The fox jumps.");
  undo.redo();
  undo.redo();
  equal(note(), "Once: The quick fox jumps over me.");
  await meet();
  them.cards.update("a", { note: "Once: The quickest fox jumps over me." });
  await meet();
  undo.undo();
  deepEqual(undo.undo()!.result.leftAlone.map(({ field }) => field), ["note"]);
  equal(note(), "Once: The quickest fox jumps.");
});
