import assert from "node:assert/strict";
import {
  defineRules,
  defineSchema,
  field,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { Origin } from "./kit/origin.ts";
import { Tab, until } from "./kit/tab_place.ts";

const Card = defineSchema("card", { title: field.string() });
const schemas = [Card];
const rules = defineRules({
  "**": {
    read: () => true,
    collections: [
      rulesFor(Card, {
        create: ({ after }) => after.title !== "bad" || "No bad cards",
        update: () => true,
        delete: () => true,
      }),
    ],
  },
});

function titles(repository: Repository): string[] {
  return repository.collection(Card).all().map(({ title }) => title).sort();
}

Deno.test("what another tab wrote on top of a refused commit arrives at once, written again", async () => {
  await using server = new MemoryServer({ rules, users: { t: "ann" } });
  let opened = 0;
  server.declines = () => void opened++;
  using origin = new Origin({
    connectorOf: (address) => ({ ...server.connector, address }),
  });
  const { rootKey } = server;
  const first = new Tab(origin, { schemas, rootKey });
  const one = await first.repository();
  const two = await new Tab(origin, { schemas, rootKey }).repository();
  const bad = one.collection(Card).create({ title: "bad" });
  await until(() => titles(two).length === 1, "the other tab sees it");
  const good = two.collection(Card).create({ title: "good" });
  await until(() => titles(one).length === 2, "and goes on from there");
  const later = one.collection(Card).create({ title: "later" });
  await Promise.all([good.durable, later.durable]);
  (await first.opening).connect("ws://memory.test/", {
    session: () => ({ token: "t" }),
    login: server.login,
  });
  await assert.rejects(bad.synced, { code: "refused" });
  const arrived = Promise.all([good.synced, later.synced]);
  let isThere = false;
  arrived.then(() => isThere = true);
  await until(() => isThere, "the server has both");
  await until(() => one.sync.status.unsent.commits === 0, "all is there");
  assert.equal(opened, 1, "nothing had to be asked again");
  assert.deepEqual([titles(one), titles(two)], [
    ["good", "later"],
    ["good", "later"],
  ]);
});
