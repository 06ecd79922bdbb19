import assert from "node:assert/strict";
import { lateRefusing } from "../repo/mod.ts";
import { Card, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";
import { until } from "./kit/patience.ts";

Deno.test("pages and their owner that lack what takes commits back load it before the first refusal, which comes once", async () => {
  const place = new ServedOrigin();
  const [tab, one] = await place.tab();
  const [, two] = await place.tab();
  const bad = one.collection(Card).create({ title: "bad" });
  const good = one.collection(Card).create({ title: "good" });
  await until(() => titlesOf(two).length === 2, "the other page sees both");
  lateRefusing.provide(undefined); // As it is in a page, and in a worker.
  place.connect(tab);
  await assert.rejects(bad.synced, { code: "refused" });
  await good.synced;
  assert.ok(lateRefusing.isLoaded, "it was loaded");
  assert.equal(place.server.connections, 1, "and nothing was said twice");
  await until(() => titlesOf(two).join() === "good", "the other page follows");
  assert.deepEqual(titlesOf(one), ["good"]);
  assert.equal(one.sync.status.refusals.length, 1);
  lateRefusing.provide(undefined);
  const [, later] = await place.tab();
  const [refusal] = later.sync.status.refusals;
  assert.ok(lateRefusing.isLoaded, "whoever opens it may retry at once");
  await assert.rejects(refusal!.retry().synced, { code: "refused" });
  await place.close();
});
