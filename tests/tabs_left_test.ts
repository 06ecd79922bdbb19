/** Pages that go away in the midst of something: what they wrote, and what they can undo, is there for the next one. */

import { deepEqual, equal, notEqual } from "node:assert/strict";
import { replicaOf } from "../src/db/internals.ts";
import { trips, until } from "./kit/patience.ts";
import { Origin } from "./kit/origin.ts";
import { Card, schemas, titlesOf } from "./kit/tab_cards.ts";
import { Tab } from "./kit/tab_place.ts";

const MODES = ["default", "trusted", "fast"] as const;

for (const mode of MODES) {
  Deno.test(`what a page wrote while there was no owner is there after its reload, once, in ${mode} mode`, async () => {
    const origin = new Origin();
    const owner = new Tab(origin, { schemas, mode });
    await (await owner.repository()).collection(Card).create({ title: "0" });
    const page = new Tab(origin, { schemas, mode });
    const repository = await page.repository();
    await repository.collection(Card).create({ title: "1" });
    const { chain } = replicaOf(repository).device;
    await repository.durable(); // Also in Fast mode.
    owner.page.life.freeze();
    repository.collection(Card).create({ title: "2" }).durable.catch(() => {});
    repository.collection(Card).create({ title: "3" }).durable.catch(() => {});
    await trips(1); // Keys that cannot be read seal in a moment, not at once.
    page.seen.tell("gone");
    page.kill();
    owner.kill();
    equal(origin.texts.size, 1);
    // Two at once: whoever comes first hands it in, and nobody gets its chain before.
    const [one, two] = [1, 2].map(() => new Tab(origin, { schemas, mode }));
    const [a, b] = await Promise.all([one!.repository(), two!.repository()]);
    for (const each of [a, b]) {
      notEqual(replicaOf(each).device.chain, chain, "nobody goes on with it");
    }
    await a.collection(Card).create({ title: "4" });
    await b.collection(Card).create({ title: "5" });
    for (const each of [a, b]) {
      await until(
        () => titlesOf(each).length === 6,
        `all in ${titlesOf(each)}`,
      );
      deepEqual(titlesOf(each), ["0", "1", "2", "3", "4", "5"]);
    }
    equal(origin.texts.size, 0);
    equal((await b.verify()).damage, undefined);
    await one![Symbol.asyncDispose]();
    await two![Symbol.asyncDispose]();
  });
}

Deno.test("what a frozen page kept is handed in by another, and it goes on with the same commits", async () => {
  const origin = new Origin();
  const owner = new Tab(origin, { schemas });
  await owner.repository();
  await using page = new Tab(origin, { schemas });
  const repository = await page.repository();
  await repository.collection(Card).create({ title: "1" });
  owner.page.life.freeze();
  const write = repository.collection(Card).create({ title: "2" });
  await trips(1);
  page.seen.tell("hidden");
  page.seen.tell("freeze");
  await trips(); // Its worker hears it.
  page.page.life.freeze();
  owner.kill();
  equal(origin.texts.size, 1);
  await using other = new Tab(origin, { schemas });
  const there = await other.repository();
  await until(() => titlesOf(there).length === 2, "it is there");
  await there.collection(Card).create({ title: "3" });
  page.page.life.thaw();
  page.seen.tell("resume");
  page.seen.tell("visible");
  await write.durable;
  await repository.collection(Card).create({ title: "4" });
  for (const each of [repository, there]) {
    await until(() => titlesOf(each).length === 4, `all in ${titlesOf(each)}`);
  }
  equal(origin.texts.size, 0);
});

Deno.test("kept texts that are nothing, or of another repository of that name, are forgotten", async () => {
  const origin = new Origin();
  const key = (tab: string) => `sheaf:${origin.name}:left:board:${tab}`;
  origin.texts.set(key("t1"), "garbage");
  origin.texts.set(key("t2"), JSON.stringify(["00", [["signed", "AAAA"]]]));
  origin.texts.set(`sheaf:${origin.name}:left:other:t3`, "not ours");
  await using page = new Tab(origin, { schemas });
  const repository = await page.repository();
  await repository.collection(Card).create({ title: "1" });
  await until(() => origin.texts.size === 1, "they are gone");
  equal(repository.status().failure, undefined);
});

Deno.test("unsyncedBytes says what this page would take along, and nothing of what came from others", async () => {
  const origin = new Origin();
  await using owner = new Tab(origin, { schemas });
  const first = await owner.repository();
  await using page = new Tab(origin, { schemas });
  const { storage } = await page.opening;
  const repository = await page.repository();
  await first.collection(Card).create({ title: "1" });
  await until(() => titlesOf(repository).length === 1, "it came");
  equal(storage.status().unsyncedBytes, 0);
  const write = repository.collection(Card).create({ title: "2" });
  equal(storage.status().unsyncedBytes > 0, true);
  await write.durable;
  equal(storage.status().unsyncedBytes, 0);
});

Deno.test("what can be undone is written down when the page is hidden, at once", async () => {
  const origin = new Origin();
  await using other = new Tab(origin, { schemas });
  await other.repository();
  const page = new Tab(origin, { schemas });
  const repository = await page.repository();
  await repository.undo.ready;
  await repository.collection(Card).create({ id: "x", title: "1" });
  page.seen.tell("hidden");
  page.kill(); // Steps are written down 100 ms after a change otherwise.
  await using next = new Tab(origin, { schemas });
  const { undo } = await next.repository();
  await undo.ready;
  equal(undo.canUndo, true);
});
