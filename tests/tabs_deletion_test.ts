/**
 * Deleting a repository in one of many pages: it is closed in all of them, and no
 * page that did not hear of it brings it back.
 */

import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import type { Repository } from "../mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { filesOf } from "./kit/images.ts";
import { Origin } from "./kit/origin.ts";
import { trips, until, within } from "./kit/patience.ts";
import { Card, schemas, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";
import { Tab } from "./kit/tab_place.ts";

const MODES = ["default", "trusted", "fast"] as const;
const discard = { unsent: "discard" } as const;

/** Waits until a page has closed its handle. */
async function untilClosed(repository: Repository, why: string): Promise<void> {
  await until(() => replicaOf(repository).isClosed, why);
  throws(() => titlesOf(repository), { code: "closed" });
  throws(() => repository.collection(Card).create({ title: "x" }), {
    code: "closed",
  });
}

for (const mode of MODES) {
  Deno.test(`deleteRepository() of one page closes it in all, and what is opened then is new, in ${mode} mode`, async () => {
    const origin = new Origin();
    await using first = new Tab(origin, { schemas, mode });
    await using second = new Tab(origin, { schemas, mode });
    const [one, two] = await Promise.all([first, second].map(async (tab) => {
      const repository = await tab.repository();
      await repository.undo.ready;
      await repository.collection(Card).create({ title: "old" });
      return repository;
    }));
    await (await first.repository("keep")).durable();
    const database = await second.opening;
    await until(() => database.repositories().length === 2, "it is told");
    await until(() => titlesOf(two!).length === 2, "both have both");
    await rejects(database.deleteRepository("board"), { code: "unsent" });
    await two!.collection(Card).create({ title: "goes on" });
    await until(() => titlesOf(one!).length === 3, "nothing was closed");

    await within(
      database.deleteRepository("board", discard),
      "it is deleted",
    );
    deepEqual(database.repositories(), ["keep"]);
    await untilClosed(two!, "the page that deleted it has closed it");
    await untilClosed(one!, "another page has closed it");
    const names = filesOf(origin.files).map(([name]) => name.split("/").at(-1));
    deepEqual(names.filter((name) => name?.includes("undo")), []);

    const [a, b] = await Promise.all([
      within(first.repository(), "it is opened again"),
      within(second.repository(), "there, too"),
    ]);
    deepEqual([titlesOf(a), titlesOf(b)], [[], []]);
    await Promise.all([a.undo.ready, b.undo.ready]);
    deepEqual([a.undo.canUndo, b.undo.canUndo], [false, false]);
    await a.collection(Card).create({ title: "new" });
    await until(() => titlesOf(b).length === 1, "it is shared");
    equal((await b.verify()).ok, true);
    await within(
      (await first.opening).deleteRepository("board", discard),
      "and once more",
    );
    await untilClosed(b, "it hears of it again");
  });

  Deno.test(`a page that slept through a deletion brings nothing back, whoever owns the files then, in ${mode} mode`, async () => {
    for (const ownerDies of ["never", "before", "after"]) {
      const origin = new Origin();
      const owner = new Tab(origin, { schemas, mode });
      const old = (await owner.repository()).collection(Card);
      await old.create({ title: "old" });
      const sleeper = new Tab(origin, { schemas, mode });
      const slept = await sleeper.repository();
      await slept.collection(Card).create({ title: "slept" });
      sleeper.seen.tell("freeze");
      await trips(); // Its worker stands in line no more.
      sleeper.page.life.freeze();
      const told = slept.collection(Card).create({ title: "told" });
      await trips(1);
      sleeper.seen.tell("hidden"); // It keeps what it was not acknowledged.
      equal(origin.texts.size, 1);
      // An owner that it never met knows nothing of it.
      if (ownerDies === "before") owner.kill();
      await using other = new Tab(origin, { schemas, mode });
      const deleter = ownerDies === "before" ? other : owner;
      await within(
        (await deleter.opening).deleteRepository("board", discard),
        "nobody waits for who sleeps",
      );
      equal(origin.texts.size, 0, "what it kept is forgotten");
      const fresh = await other.repository();
      await fresh.collection(Card).create({ title: "new" });
      if (ownerDies === "after") owner.kill();
      const late = slept.collection(Card).create({ title: "late" });
      sleeper.page.life.thaw();
      sleeper.seen.tell("resume");
      sleeper.seen.tell("visible");
      // Who had acknowledged it may not have said so.
      const isTold = mode === "fast" || ownerDies !== "before";
      if (isTold) await within(told.durable, "it was, and then deleted");
      const ended = within(late.durable, "its write ends");
      if (mode === "fast") await ended; // It never waits for the owner.
      else await rejects(ended, { code: "closed" });
      await untilClosed(slept, "the page has heard of it");
      const again = await within(sleeper.repository(), "it opens what is new");
      await fresh.collection(Card).create({ title: "newer" });
      await until(() => titlesOf(again).length === 2, "that it has");
      for (const each of [again, fresh]) {
        deepEqual(titlesOf(each), ["new", "newer"]);
      }
      equal((await fresh.verify()).ok, true);
      await sleeper[Symbol.asyncDispose]();
      await owner[Symbol.asyncDispose]();
    }
  });
}

Deno.test("what a page left before a deletion is no part of what is opened after it", async () => {
  const origin = new Origin();
  const owner = new Tab(origin, { schemas });
  await (await owner.repository()).collection(Card).create({ title: "old" });
  const page = new Tab(origin, { schemas });
  const repository = await page.repository();
  owner.page.life.freeze();
  repository.collection(Card).create({ title: "left" }).durable.catch(() => {});
  await trips(1);
  page.seen.tell("gone");
  page.kill();
  const left = new Map(origin.texts);
  equal(left.size, 1);
  owner.kill();
  await using next = new Tab(origin, { schemas });
  await within(
    (await next.opening).deleteRepository("board", discard),
    "it is deleted",
  );
  equal(origin.texts.size, 0);
  // A page writes such texts whenever it goes: it may be later.
  for (const [key, text] of left) origin.texts.set(key, text);
  const again = await next.repository();
  await again.collection(Card).create({ title: "new" });
  await until(() => origin.texts.size === 0, "they are forgotten");
  deepEqual(titlesOf(again), ["new"]);
});

Deno.test("files that were lost after a deletion are brought back by their pages, as ever", async () => {
  const origin = new Origin();
  await using page = new Tab(origin, { schemas });
  await (await page.repository()).collection(Card).create({ title: "old" });
  await (await page.opening).deleteRepository("board", discard);
  const repository = await page.repository();
  await repository.collection(Card).create({ title: "new" });
  origin.evict();
  await repository.collection(Card).create({ title: "newer" });
  await using other = new Tab(origin, { schemas });
  const there = await other.repository();
  await until(() => titlesOf(there).length === 2, "they are there");
  deepEqual(titlesOf(there), ["new", "newer"]);
  equal(replicaOf(repository).isClosed, false);
});

Deno.test("deleteRepository() of a page that is connected needs nothing discarded, and all comes again", async () => {
  const served = new ServedOrigin();
  const [database, one] = await served.tab();
  const [, two] = await served.tab();
  served.connect(database);
  await within(one.collection(Card).create({ title: "1" }).synced, "sent");
  await within(two.collection(Card).create({ title: "2" }).synced, "sent");
  await within(database.deleteRepository("board"), "the server has it");
  await untilClosed(two, "everywhere");
  const again = await within(served.tabs[1]!.repository(), "it opens");
  await until(() => titlesOf(again).length === 2, "all comes again");
  await within(again.collection(Card).create({ title: "3" }).synced, "sent");
  deepEqual(again.sync.status.incidents, []);
  ok((await again.verify()).ok);
  await served.close();
});

Deno.test("a chain that a refusal had ended is not gone on with after a deletion", async () => {
  const served = new ServedOrigin();
  const [database, one] = await served.tab();
  served.connect(database);
  await within(one.collection(Card).create({ title: "1" }).synced, "sent");
  one.collection(Card).create({ title: "bad" });
  await until(() => one.sync.status.refusals.length === 1, "it is refused");
  await rejects(database.deleteRepository("board"), {
    code: "unsent",
    message: /refused writes \(1\)/,
  });
  await one.sync.status.refusals[0]!.discard();
  await until(() => one.sync.status.unsent.commits === 0, "all is sent");
  await within(database.deleteRepository("board"), "it is deleted");
  for (const title of ["2", "3"]) {
    const again = await within(served.tabs[0]!.repository(), "it opens");
    await within(again.sync.ready, "all comes again");
    await within(again.collection(Card).create({ title }).synced, title);
    deepEqual(again.sync.status.refusals, []);
    await again.close();
  }
  const again = await served.tabs[0]!.repository();
  deepEqual(titlesOf(again), ["1", "2", "3"]);
  await served.close();
});
