import { deepEqual, equal, rejects } from "node:assert/strict";
import { memoryStorage, openDatabase, type Storage } from "../mod.ts";
import type { Replica } from "../repo/mod.ts";
import { toHex } from "../src/base/bytes.ts";
import { faultyStorage } from "../tests/kit/mod.ts";
import { until } from "../tests/kit/patience.ts";
import { rootSigner, RuledDevice } from "../tests/kit/ruled_device.ts";
import { bookSchemas, openBooks } from "./books.ts";
import type { Hub } from "./hub.ts";
import { Log } from "./log.ts";
import { type ChainEnd, chainEndsOf } from "../sync/summary.ts";
import { RevocationList } from "./revocations.ts";
import { recordKind } from "../repo/mod.ts";

const NOW = 1_800_000_000_000;

/** A list with books of its own, for a server that has these repositories open. */
async function listing(
  open: readonly Replica[] = [],
  known: ReadonlyMap<string, ChainEnd> = new Map(),
  storage: Storage = memoryStorage(),
) {
  const db = await openDatabase({ storage, schemas: bookSchemas });
  const books = await openBooks(db);
  const events: string[] = [];
  const hub = {
    names: open.map(({ name }) => name),
    replicaOf: () => open[0],
    use: (_name: string, work: (replica: Replica) => unknown) => work(open[0]!),
  };
  const list = new RevocationList({
    books,
    hub: hub as unknown as Hub,
    signer: rootSigner,
    now: () => NOW,
    lastEnd: () => NOW + 1_000,
    restores: { known: () => known },
    log: new Log(({ event }) => void events.push(event), "warn", () => NOW),
    metrics: { revoked() {} },
    disconnect() {},
  });
  return { list, books, events, [Symbol.asyncDispose]: () => db.close() };
}

Deno.test("RevocationList.prepare() lets stand what is known to have been accepted, though nothing of it is back", async () => {
  const [eve, server] = await Promise.all(
    [1, 2].map((seed) => RuledDevice.open({ seed })),
  );
  eve!.put("x", { rank: 1 });
  await eve!.replica.durable();
  const known = chainEndsOf(eve!.replica.port().summary()!);
  await using place = await listing([server!.replica], known);
  const sessionKey = toHex(eve!.key);
  server!.take([{ kind: recordKind.certificate, bytes: eve!.certificate }]);
  deepEqual(await place.list.revoke({ sessionKey }, "stolen"), {
    sessions: [sessionKey],
    repositories: 1,
  });
  const { revocations } = server!.replica.loaded.credentials;
  deepEqual([...known.keys()].map((chain) => revocations.cutOf(chain)), [1]);
  eve!.put("x", { rank: 2 });
  server!.take(eve!.records());
  equal(server!.get("x", "rank"), 1);
  for (const device of [eve!, server!]) await device.replica.close();
});

Deno.test("RevocationList.ends() goes by when the books say that a user's session was certified, or by its end", async () => {
  await using place = await listing();
  const { list, books } = place;
  const issued = new Date(NOW + 1);
  const expires = new Date(NOW + 5_000);
  const session = { user: "ann", claims: {}, expires };
  await books.sessions.create({ id: "known", ...session, issued: new Date(0) });
  const { sessions } = await list.revoke({ user: "ann" }, "");
  deepEqual(sessions, ["known"]);
  await books.sessions.create({ id: "later", ...session, issued });
  const ends = (sessionKey: string, notAfter: number, user = "ann") =>
    list.ends({ sessionKey, user, notAfter });
  equal(ends("later", expires.getTime()), false);
  await books.sessions.create({ id: "twice", ...session, issued });
  equal(ends("twice", expires.getTime() - 1), true, "by its old certificate");
  equal(ends("bob", 0, "bob"), false);
  equal(ends("young", expires.getTime() + 1), false);
  equal(ends("old", expires.getTime()), true);
  equal(list.has("old"), true, "and by its key from now on");
  deepEqual((await list.revoke({ user: "ann" }, "")).sessions, [
    "known",
    "later",
    "twice",
  ]);
  await rejects(list.revoke({ user: "" }, ""), { code: "invalid-option" });
});

Deno.test("RevocationList holds beside books that cannot be written, and says so", async () => {
  const storage = faultyStorage();
  const [eve, server] = await Promise.all(
    [1, 2].map((seed) => RuledDevice.open({ seed })),
  );
  eve!.put("x", { rank: 1 });
  server!.take(eve!.records());
  server!.take([{
    kind: recordKind.revocation,
    bytes: eve!.revoked(new Map()).bytes,
  }]);
  const place = await listing([], new Map(), storage);
  const key = toHex(eve!.key);
  storage.failNext();
  place.list.follow(server!.replica);
  equal(place.list.has(key), true);
  await until(
    () => place.events.includes("repository-failed"),
    "the failure is told",
  );
  equal(place.list.has(key), true);
  await rejects(place[Symbol.asyncDispose]());
  for (const device of [eve!, server!]) await device.replica.close();
});
