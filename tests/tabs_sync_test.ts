import assert from "node:assert/strict";
import {
  type Connection,
  type Database,
  defineRules,
  defineSchema,
  field,
  type Repository,
  rulesFor,
} from "../mod.ts";
import { limits } from "../src/base/limits.ts";
import { type Frame, observe } from "../src/db/observe.ts";
import { MemoryServer } from "./kit/memory_server.ts";
import { verify } from "../crypto/mod.ts";
import { Origin } from "./kit/origin.ts";
import { Tab, until } from "./kit/tab_place.ts";

const Card = defineSchema("card", { title: field.string() });
const schemas = [Card];
/** Only the server has them: a client learns of a refusal when it is too late. */
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

/** A server, an origin that reaches it, and its pages. */
class World {
  readonly server = new MemoryServer({ rules, users: { t: "ann" } });
  readonly origin = new Origin({
    connectorOf: (address) => ({
      address,
      connect: (signal) => this.server.connector.connect(signal),
    }),
  });
  readonly tabs: Tab[] = [];

  async tab(): Promise<[Database, Repository]> {
    const { rootKey } = this.server;
    const tab = new Tab(this.origin, { schemas, rootKey });
    this.tabs.push(tab);
    return [await tab.opening, await tab.repository()];
  }

  connect(database: Database): Connection {
    return database.connect("ws://memory.test/", {
      session: () => ({ token: "t" }),
      login: this.server.login,
    });
  }

  async close(): Promise<void> {
    for (const tab of this.tabs) await tab[Symbol.asyncDispose]();
    await this.server[Symbol.asyncDispose]();
  }
}

const pause = (ms: number) => new Promise<void>((go) => setTimeout(go, ms));

function titles(repository: Repository): string[] {
  return repository.collection(Card).all().map(({ title }) => title).sort();
}

Deno.test("a tab connects for all, its page logs in, and writes of every tab arrive", async () => {
  const world = new World();
  const [, one] = await world.tab();
  const [second, two] = await world.tab();
  const offline = two.collection(Card).create({ title: "offline" });
  const connection = world.connect(second);
  await offline.synced;
  await until(() => connection.status.state === "ready", "it is told so");
  await one.collection(Card).create({ title: "online" }).synced;
  await until(() => two.sync.status.state === "live", "it is live");
  await until(() => second.user === "ann", "the certificate says who");
  await until(() => titles(two).length === 2, "both are there");
  assert.deepEqual(titles(two), ["offline", "online"]);
  const history = two.history();
  assert.deepEqual(new Set(history.map(({ user }) => user)), new Set(["ann"]));
  await world.close();
});

Deno.test("a refusal undoes what was refused, in every tab, and nothing else", async () => {
  const world = new World();
  const [first, one] = await world.tab();
  const [, two] = await world.tab();
  world.connect(first);
  await one.collection(Card).create({ title: "before" }).synced;
  const expected = ["before"];
  const synced: Promise<void>[] = [];
  let refused: Promise<void> | undefined;
  for (let i = 0; i < 40; i++) {
    const repository = i % 2 === 0 ? two : one;
    const title = i === 10 ? "bad" : `card ${i}`;
    const write = repository.collection(Card).create({ title });
    const arrival = write.synced;
    arrival.catch(() => {}); // It is asked below.
    if (i === 10) refused = arrival;
    else {
      expected.push(title);
      synced.push(arrival);
    }
    if (i % 3 === 0) await write.durable;
    else await new Promise((resolve) => setTimeout(resolve, i % 5));
  }
  await assert.rejects(refused!, { code: "refused" });
  await Promise.all(synced);
  expected.sort();
  for (const repository of [one, two]) {
    await until(() => titles(repository).length === expected.length, "equal");
    assert.deepEqual(titles(repository), expected);
    await until(
      () => repository.sync.status.refusals.length === 1,
      "the refusal is shown",
    );
    const [refusal] = repository.sync.status.refusals;
    assert.equal(refusal!.reason, "denied");
    assert.match(refusal!.rule, /card/);
    assert.equal(refusal!.operations.length, 1);
  }
  await two.sync.status.refusals[0]!.discard();
  await until(() => one.sync.status.refusals.length === 0, "settled for all");
  const [, three] = await world.tab();
  assert.deepEqual(titles(three), expected);
  assert.equal(three.sync.status.refusals.length, 0);
  await world.close();
});

Deno.test("a refused write is retried by another tab than its own", async () => {
  const world = new World();
  const [first, one] = await world.tab();
  const [, two] = await world.tab();
  world.connect(first);
  await one.collection(Card).create({ title: "before" }).synced;
  let isStrict = true;
  world.server.gate = () =>
    isStrict ? { refused: "denied", detail: "Not now" } : undefined;
  const write = one.collection(Card).create({ title: "later" });
  await assert.rejects(write.synced, { code: "refused" });
  await until(() => two.sync.status.refusals.length === 1, "shown elsewhere");
  isStrict = false;
  await two.sync.status.refusals[0]!.retry().synced;
  await until(() => titles(one).length === 2, "it is back");
  await until(() => one.sync.status.refusals.length === 0, "settled");
  assert.deepEqual(titles(one), ["before", "later"]);
  await world.close();
});

Deno.test("presence: tabs of one device see each other, and are one peer to the server", async () => {
  const world = new World();
  const [first, one] = await world.tab();
  const [, two] = await world.tab();
  world.connect(first);
  await one.sync.ready;
  one.presence.set({ at: "a" });
  await until(() => two.presence.others.length === 1, "the other tab");
  assert.deepEqual(two.presence.others[0]!.data, { at: "a" });
  two.presence.set({ at: "b" });
  await until(() => one.presence.others.length === 1, "and back");
  one.presence.clear();
  await until(() => two.presence.others.length === 0, "cleared");
  await world.close();
});

Deno.test("observe() in any tab names the frames of the device's connection, and those of the next owner", async () => {
  const world = new World();
  const [first, one] = await world.tab();
  const [second, two] = await world.tab();
  const frames: Frame[] = [];
  const observed = observe(second, {
    wrote: () => () => {},
    frame: (frame) => void frames.push(frame),
  });
  world.connect(second);
  await two.collection(Card).create({ title: "one" }).synced;
  const isSeen = (way: string, kind: string) =>
    frames.some((frame) => frame.way === way && frame.kind === kind);
  await until(() => isSeen("out", "records"), "what was written");
  assert.ok(isSeen("in", "welcome"), JSON.stringify(frames));
  assert.ok(frames.every(({ at, bytes }) => at > 0 && bytes > 0));
  assert.ok(!frames.some(({ kind }) => kind === "unreadable"));
  await one.close();
  await first.close();
  frames.length = 0;
  await until(() => second.tabs.status.role === "owner", "it is the next one");
  await two.collection(Card).create({ title: "next" }).synced;
  await until(() => isSeen("out", "records"), "the next owner's connection");
  observed[Symbol.dispose]();
  await two.collection(Card).create({ title: "two" }).synced;
  await pause(2 * limits.tabFramesMs);
  frames.length = 0;
  await two.collection(Card).create({ title: "three" }).synced;
  await pause(2 * limits.tabFramesMs);
  assert.deepEqual(frames, []);
  await world.close();
});

Deno.test("a login function in a page signs for the key that is certified, also where that is a new one", async () => {
  const world = new World();
  const [, one] = await world.tab();
  const [second] = await world.tab();
  const before = second.sessionKey;
  const keys: Uint8Array[] = [];
  second.connect("ws://memory.test/", {
    session: { token: "t" },
    login: async (request) => {
      const message = new TextEncoder().encode("It is me");
      const signature = await request.sign(message);
      assert.ok(verify(signature, message, request.sessionKey));
      keys.push(request.sessionKey);
      if (keys.length === 1) return "key-taken";
      return await world.server.login(request);
    },
  });
  await until(
    () => String(second.sessionKey) === String(keys[1]),
    "the tab writes with the new key",
  );
  assert.deepEqual(keys[0], before);
  assert.notDeepEqual(keys[1], before);
  await one.collection(Card).create({ title: "x" }).synced;
  await world.close();
});
