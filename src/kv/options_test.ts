import { deepEqual, equal, throws } from "node:assert/strict";
import { memoryStorage, openDatabase, type World } from "../../mod.ts";
import { openKv } from "./mod.ts";

Deno.test("what stands in the place of options, or of a key, is refused and never overlooked", async () => {
  await using db = await openDatabase({ storage: memoryStorage() });
  const repository = await db.repository("team");
  const kv = openKv(repository);
  // A program without types may give anything.
  for (const no of ["user/", 5_000, null] as never[]) {
    const calls: (() => unknown)[] = [
      () => kv.keys(no),
      () => kv.list(no),
      () => kv.subscribe(no, () => {}),
      () => kv.set("k", 1, no),
      () => kv.setMany([["k", 1]], no),
      () => kv.setMany([], no),
      () => kv.update("k", () => 1, no),
      () => kv.compareAndSet("k", undefined, 1, no),
      () => openKv(repository, no),
    ];
    for (const call of calls) throws(call, { code: "invalid-option" });
  }
  for (const no of [5, null, undefined, ["k"]] as never[]) {
    const calls: (() => unknown)[] = [
      () => kv.get(no),
      () => kv.getMany([no]),
      () => kv.exists(no),
      () => kv.entry(no),
      () => kv.history(no),
      () => kv.set(no, 1),
      () => kv.setMany([[no, 1]]),
      () => kv.delete(no),
      () => kv.deleteMany(["k", no]),
      () => kv.update(no, () => undefined),
      () => kv.compareAndSet(no, "never", 1),
      () => repository.transact((tx) => kv.within(tx).get(no)),
    ];
    for (const call of calls) throws(call, { code: "invalid-id" });
    if (no === undefined) continue;
    throws(() => openKv(repository, { name: no }), { code: "invalid-name" });
  }
  equal(kv.size, 0);
});

Deno.test("an option that is undefined is one that was not given", async () => {
  await using db = await openDatabase({ storage: memoryStorage() });
  const repository = await db.repository("team");
  const kv = openKv(repository, { name: undefined });
  equal(kv, openKv(repository));
  kv.setMany([["a", 1], ["b", 2], ["c", 3]], { ttlMs: undefined });
  kv.set("a", 2, { expiresAt: kv.entry("a")?.expiresAt });
  const pages: string[][] = [];
  let after: string | undefined;
  do {
    const page = kv.list({ limit: 2, after, prefix: undefined });
    pages.push(page.entries.map(({ key }) => key));
    after = page.cursor;
  } while (after !== undefined);
  deepEqual(pages, [["a", "b"], ["c"]]);
});

Deno.test("what was set together ends together, however long the setting took", async () => {
  let time = 1_800_000_000_000;
  const world: World = {
    now: () => time++,
    monotonic: () => time,
    random: (target) =>
      void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>),
    after: () => () => {},
  };
  await using db = await openDatabase({ storage: memoryStorage(), world });
  const kv = openKv(await db.repository("team"));
  kv.setMany(["a", "b", "c"].map((key) => [key, 1]), { ttlMs: 3_600_000 });
  const ends = kv.list().entries.map(({ expiresAt }) => expiresAt);
  deepEqual(ends, [ends[0], ends[0], ends[0]]);
});
