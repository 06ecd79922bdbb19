import assert from "node:assert/strict";
import { type Frame, observe } from "../src/db/observe.ts";
import { verify } from "../crypto/mod.ts";
import { pause, trips, until } from "./kit/patience.ts";
import { ADDRESS } from "./kit/memory_server.ts";
import { Card, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";

Deno.test("a tab connects for all, its page logs in, and writes of every tab arrive", async () => {
  const place = new ServedOrigin();
  const [, one] = await place.tab();
  const [second, two] = await place.tab();
  const offline = two.collection(Card).create({ title: "offline" });
  const connection = place.connect(second);
  await offline.synced;
  await until(() => connection.status.state === "ready", "it is told so");
  await one.collection(Card).create({ title: "online" }).synced;
  await until(() => two.sync.status.state === "live", "it is live");
  await until(() => second.user === "ann", "the certificate says who");
  await until(() => titlesOf(two).length === 2, "both are there");
  assert.deepEqual(titlesOf(two), ["offline", "online"]);
  const history = two.history();
  assert.deepEqual(new Set(history.map(({ user }) => user)), new Set(["ann"]));
  await place.close();
});

Deno.test("tabs of a device whose clock is 10 minutes ahead, or set while connected, hear of no refusal", async () => {
  const place = new ServedOrigin();
  place.origin.aheadMs = 600_000;
  const [first, one] = await place.tab();
  const [, two] = await place.tab();
  const early = [one, two].flatMap((repository) =>
    [1, 2, 3].map((i) =>
      repository.collection(Card).create({ title: `early ${i}` })
    )
  );
  await early[5]!.durable;
  place.connect(first);
  await Promise.all(early.map(({ synced }) => synced));
  for (const aheadMs of [-86_400_000, 0, 3_600_000]) {
    place.origin.aheadMs = aheadMs;
    for (const repository of [one, two]) {
      await repository.collection(Card).create({ title: "late" }).synced;
    }
  }
  const served = await place.server.replica(one.name);
  for (const { last } of served.graph.chains()) {
    assert.ok(last.wall <= Date.now(), "nothing is dated ahead");
  }
  for (const repository of [one, two]) {
    await until(() => titlesOf(repository).length === 12, "all is there");
    assert.deepEqual(repository.sync.status.refusals, []);
  }
  await place.close();
});

Deno.test("a refusal undoes what was refused, in every tab, and nothing else", async () => {
  const place = new ServedOrigin();
  const [first, one] = await place.tab();
  const [, two] = await place.tab();
  place.connect(first);
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
    else await pause(i % 5);
  }
  await assert.rejects(refused!, { code: "refused" });
  await Promise.all(synced);
  expected.sort();
  for (const repository of [one, two]) {
    await until(() => titlesOf(repository).length === expected.length, "equal");
    assert.deepEqual(titlesOf(repository), expected);
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
  const [, three] = await place.tab();
  assert.deepEqual(titlesOf(three), expected);
  assert.equal(three.sync.status.refusals.length, 0);
  await place.close();
});

Deno.test("a refused write is retried by another tab than its own", async () => {
  const place = new ServedOrigin();
  const [first, one] = await place.tab();
  const [, two] = await place.tab();
  place.connect(first);
  await one.collection(Card).create({ title: "before" }).synced;
  let isStrict = true;
  place.server.gate = () =>
    isStrict ? { refused: "denied", detail: "Not now" } : undefined;
  const write = one.collection(Card).create({ title: "later" });
  await assert.rejects(write.synced, { code: "refused" });
  await until(() => two.sync.status.refusals.length === 1, "shown elsewhere");
  isStrict = false;
  await two.sync.status.refusals[0]!.retry().synced;
  await until(() => titlesOf(one).length === 2, "it is back");
  await until(() => one.sync.status.refusals.length === 0, "settled");
  assert.deepEqual(titlesOf(one), ["before", "later"]);
  await place.close();
});

Deno.test("presence: tabs of one device see each other, and are one peer to the server", async () => {
  const place = new ServedOrigin();
  const [first, one] = await place.tab();
  const [, two] = await place.tab();
  place.connect(first);
  await one.sync.ready;
  one.presence.set({ at: "a" });
  await until(() => two.presence.others.length === 1, "the other tab");
  assert.deepEqual(two.presence.others[0]!.data, { at: "a" });
  two.presence.set({ at: "b" });
  await until(() => one.presence.others.length === 1, "and back");
  one.presence.clear();
  await until(() => two.presence.others.length === 0, "cleared");
  await place.close();
});

Deno.test("observe() in any tab names the frames of the device's connection, and those of the next owner", async () => {
  const place = new ServedOrigin();
  const [first, one] = await place.tab();
  const [second, two] = await place.tab();
  const frames: Frame[] = [];
  const observed = observe(second, {
    wrote: () => () => {},
    frame: (frame) => void frames.push(frame),
  });
  place.connect(second);
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
  frames.length = 0;
  // Another one that listens on hears of it: so it was told.
  const others: Frame[] = [];
  using _other = observe(second, {
    wrote: () => () => {},
    frame: (frame) => void others.push(frame),
  });
  await two.collection(Card).create({ title: "three" }).synced;
  const isTold = () => others.some(({ kind }) => kind === "records");
  await until(isTold, "who still listens hears it");
  await trips();
  assert.deepEqual(frames, []);
  await place.close();
});

Deno.test("a login function in a page signs for the key that is certified, also where that is a new one", async () => {
  const place = new ServedOrigin();
  const [, one] = await place.tab();
  const [second] = await place.tab();
  const before = second.sessionKey;
  const keys: Uint8Array[] = [];
  second.connect(ADDRESS, {
    session: { token: "t" },
    login: async (request) => {
      const message = new TextEncoder().encode("It is me");
      const signature = await request.sign(message);
      assert.ok(verify(signature, message, request.sessionKey));
      keys.push(request.sessionKey);
      if (keys.length === 1) return "key-taken";
      return await place.server.login(request);
    },
  });
  await until(
    () => String(second.sessionKey) === String(keys[1]),
    "the tab writes with the new key",
  );
  assert.deepEqual(keys[0], before);
  assert.notDeepEqual(keys[1], before);
  await one.collection(Card).create({ title: "x" }).synced;
  await place.close();
});

Deno.test("what a page's own function fails with, when it is asked who this is, is told as it is", async () => {
  const place = new ServedOrigin();
  const [first, one] = await place.tab();
  first.connect(ADDRESS, {
    session: () => Promise.reject(new Error("My backend is away")),
    login: place.server.login,
  });
  await until(() => one.sync.status.reason !== undefined, "it is told");
  assert.deepEqual(one.sync.status.reason, {
    code: "unreachable",
    message: "My backend is away",
  });
  await place.close();
});
