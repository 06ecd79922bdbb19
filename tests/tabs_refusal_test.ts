import assert from "node:assert/strict";
import { Card, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";
import { until } from "./kit/patience.ts";

Deno.test("what another tab wrote on top of a refused commit arrives at once, written again", async () => {
  const place = new ServedOrigin();
  let opened = 0;
  place.server.declines = () => void opened++;
  const [first, one] = await place.tab();
  const [, two] = await place.tab();
  const bad = one.collection(Card).create({ title: "bad" });
  await until(() => titlesOf(two).length === 1, "the other tab sees it");
  const good = two.collection(Card).create({ title: "good" });
  await until(() => titlesOf(one).length === 2, "and goes on from there");
  const later = one.collection(Card).create({ title: "later" });
  await Promise.all([good.durable, later.durable]);
  place.connect(first);
  await assert.rejects(bad.synced, { code: "refused" });
  const arrived = Promise.all([good.synced, later.synced]);
  let isThere = false;
  arrived.then(() => isThere = true);
  await until(() => isThere, "the server has both");
  await until(() => one.sync.status.unsent.commits === 0, "all is there");
  assert.equal(opened, 1, "nothing had to be asked again");
  assert.deepEqual([titlesOf(one), titlesOf(two)], [
    ["good", "later"],
    ["good", "later"],
  ]);
  await place.close();
});
