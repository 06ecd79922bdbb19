/** Rot in the files of a browser's database: pages have in memory what it takes. */

import assert from "node:assert/strict";
import { defineSchema, field } from "../mod.ts";
import { until } from "./kit/patience.ts";
import { Origin } from "./kit/origin.ts";
import { Tab } from "./kit/tab_place.ts";

const Card = defineSchema("card", {
  title: field.string(),
  votes: field.counter(),
});
const schemas = [Card];

Deno.test("an owner finds rot in its files, and its tabs give back what that took", async () => {
  const origin = new Origin();
  const first = new Tab(origin, { schemas });
  const a = (await first.repository()).collection(Card);
  const second = new Tab(origin, { schemas });
  const b = (await second.repository()).collection(Card);
  const ids: string[] = [];
  for (let i = 0; i < 60; i++) {
    const { id } = await a.create({ title: `${i}` });
    await a.update(id, { votes: { increment: 1 } });
    ids.push(id);
  }
  await until(() => b.count() === 60, "the other tab has them");
  const [folder] = origin.files.folders("repositories");
  const path = `repositories/${folder}`;
  const log = origin.files.open(`${path}/log-00000000`)!;
  log.writeAt(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 4_000);
  const db = await first.opening;
  const codes = () => db.storage.status().incidents.map(({ code }) => code);
  await until(() => codes().includes("log-damaged"), "pages hear of it");
  await a.create({ title: "after" }).durable;
  await until(() => b.count() === 61, "they go on");
  await until(
    () =>
      origin.files.list(path).some((name) => name.startsWith("quarantine-")),
    "the files are repaired",
  );
  await (await first.repository()).durable();
  for (const tab of [second, first]) await tab[Symbol.asyncDispose]();
  const last = new Tab(origin, { schemas });
  const c = (await last.repository()).collection(Card);
  assert.equal(c.count(), 61);
  for (const id of ids) assert.equal(c.get(id)?.votes, 1);
  const { recovery } = (await last.repository()).status();
  assert.equal(recovery.lost, undefined);
  await last[Symbol.asyncDispose]();
});

Deno.test("pages hear at once that their owner can write nothing any more", async () => {
  const origin = new Origin();
  const first = new Tab(origin, { schemas });
  await (await first.repository()).collection(Card).create({ title: "kept" })
    .durable;
  const second = new Tab(origin, { schemas });
  const b = (await second.repository()).collection(Card);
  await until(() => b.count() === 1, "the other tab has it");
  origin.isFull = true;
  b.create({ title: "x".repeat(3_000_000) }).durable.catch(() => {});
  const db = await second.opening;
  await until(
    () =>
      db.storage.status().incidents.some(({ code, message }) =>
        code === "storage-failed" && message.startsWith("board: ")
      ),
    "the page hears of it",
  );
  origin.isFull = false;
  for (const tab of [second, first]) {
    await tab[Symbol.asyncDispose]().catch(() => {});
  }
});
