/**
 * Stores of several clients of one server: they converge, and of compare-and-sets
 * that knew nothing of each other the server takes one.
 */

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
} from "../mod.ts";
import { type Kv, openKv } from "../src/kv/mod.ts";
import { until } from "./kit/patience.ts";
import { type Place, withServer } from "./server_place.ts";

/** A client, offline until {@linkcode connect}. */
interface Client {
  readonly db: Database;
  readonly repository: Repository;
  readonly kv: Kv;
}

async function client({ server }: Place): Promise<Client> {
  const db = await openDatabase({
    storage: memoryStorage(),
    rootKey: server.rootKey,
  });
  const repository = await db.repository("team");
  return { db, repository, kv: openKv(repository) };
}

/** Connects, and waits until nothing is left to be said. */
async function connect({ server }: Place, one: Client): Promise<void> {
  one.db.connect(server.url, { session: { anonymous: true } });
  await one.repository.sync.ready;
}

const all = ({ kv }: Client) =>
  kv.list().entries.map(({ key, value }) => [key, value]);

/** Runs `work` with a server and two clients, which are closed afterwards. */
async function withTwo(
  work: (place: Place, a: Client, b: Client) => Promise<void>,
): Promise<void> {
  await withServer({}, async (place) => {
    const a = await client(place);
    const b = await client(place);
    await work(place, a, b);
    await a.db.close();
    await b.db.close();
  });
}

Deno.test("two clients that set, delete and let expire show the same after a server", () =>
  withTwo(async (place, a, b) => {
    a.kv.set("kept", { n: 1 });
    a.kv.set("gone", 1);
    a.kv.set("short", 1, { ttlMs: 50 });
    b.kv.set("other", new Date(7));
    await connect(place, a);
    await connect(place, b);
    await until(
      () => b.kv.exists("gone") && a.kv.exists("other"),
      "all is there",
    );
    await b.kv.delete("gone").synced;
    const expected = [["kept", { n: 1 }], ["other", new Date(7)]];
    await until(() => all(a).length === 2 && all(b).length === 2, "it expires");
    deepEqual(all(a), expected);
    deepEqual(all(b), expected);
  }));

Deno.test("of two clients that took one key while they were offline exactly one has it, and both say which", () =>
  withTwo(async (place, a, b) => {
    const first = a.kv.compareAndSet("lock", undefined, "a");
    const second = b.kv.compareAndSet("lock", undefined, "b");
    deepEqual([first.result, second.result], [true, true], "here, at once");
    const unharmed = b.kv.set("other", 1);
    await connect(place, a);
    await first.synced;
    await connect(place, b);
    await rejects(second.synced, {
      code: "refused",
      message: /Somebody else has set the entry before/,
    });
    await unharmed.synced;
    await until(() => a.kv.exists("other"), "what stood behind it arrives");
    deepEqual(all(a), [["lock", "a"], ["other", 1]]);
    deepEqual(all(b), all(a));
    const [refusal] = b.repository.sync.status.refusals;
    equal(refusal?.reason, "kv-conflict");
    ok(b.kv.compareAndSet("lock", "a", "b").result, "it tries again");
    await until(() => a.kv.get("lock") === "b", "and has it");
  }));

Deno.test("a client's own chain of compare-and-sets is taken whole, and falls whole", () =>
  withTwo(async (place, a, b) => {
    const chain = [0, 1, 2].map((n) =>
      a.kv.compareAndSet("n", n === 0 ? undefined : n, n + 1)
    );
    const late = [0, 1].map((n) =>
      b.kv.compareAndSet("n", n === 0 ? undefined : 10 + n, 11 + n)
    );
    ok([...chain, ...late].every(({ result }) => result));
    await connect(place, a);
    for (const write of chain) await write.synced;
    await connect(place, b);
    for (const write of late) await rejects(write.synced);
    deepEqual(all(b), [["n", 3]]);
    deepEqual(b.repository.sync.status.refusals.map(({ reason }) => reason), [
      "kv-conflict",
      "kv-conflict",
    ]);
    deepEqual(all(a), all(b));
  }));

Deno.test("a compare-and-set is compared within one transaction with what stands before it there", () =>
  withTwo(async (place, a) => {
    const write = a.repository.transact((tx) => {
      const scope = a.kv.within(tx);
      scope.set("k", 1);
      ok(scope.compareAndSet("k", 1, 2));
      ok(scope.compareAndSet("new", undefined, 1));
      ok(scope.compareAndSet("new", 1, 2));
    });
    await connect(place, a);
    await write.synced;
    deepEqual(all(a), [["k", 2], ["new", 2]]);
  }));

Deno.test("an entry that has expired by a compare-and-set's own time is absent for it", () =>
  withTwo(async (place, a, b) => {
    await connect(place, a);
    await a.kv.set("lease", "a", { ttlMs: 30 }).synced;
    await connect(place, b);
    await until(() => !b.kv.exists("lease"), "it expires");
    const taken = b.kv.compareAndSet("lease", undefined, "b");
    ok(taken.result);
    await taken.synced;
    await until(() => a.kv.get("lease") === "b", "the other sees it");
  }));

Deno.test("a compare-and-set that loses to a later write it did not know of has set nothing, and says so", () =>
  withTwo(async (place, a, b) => {
    await connect(place, a);
    await a.kv.set("k", "same").synced;
    await connect(place, b);
    await b.db.connection?.close();
    const swap = b.kv.compareAndSet("k", "same", "mine");
    ok(swap.result);
    // Back to the same value, at a later time: a comparison alone would not see it.
    const swappedMs = Date.now();
    await until(() => Date.now() > swappedMs, "the clock goes on");
    await a.kv.set("k", "between").synced;
    await a.kv.set("k", "same").synced;
    await connect(place, b);
    await rejects(swap.synced, /at a later time/);
    deepEqual(all(b), [["k", "same"]]);
  }));

/** Entries as a liar writes them. */
const Liar = defineSchema("kv", {
  value: field.json<unknown>().optional(),
  data: field.bytes().optional(),
  expiresAt: field.number().optional(),
  expected: field.json<unknown>().optional(),
});

Deno.test("what is no digest is refused at the door, whatever it is, and nothing else with it", () =>
  withServer({}, async (place) => {
    const { server } = place;
    await using liar = await openDatabase({
      storage: memoryStorage(),
      rootKey: server.rootKey,
      schemas: [Liar],
    });
    const repository = await liar.repository("team");
    liar.connect(server.url, { session: { anonymous: true } });
    const entries = repository.collection(Liar);
    const wrong = [7, null, "", "ABSENT", "f".repeat(31), "x".repeat(9_999), {
      deep: [[[]]],
    }];
    for (const [i, expected] of wrong.entries()) {
      const write = entries.create({ id: `k${i}`, value: 1, expected });
      await rejects(
        write.synced,
        /is no digest/,
        String(expected).slice(0, 20),
      );
    }
    await entries.create({ id: "good", value: 1, expected: "absent" }).synced;
    const one = await client(place);
    await connect(place, one);
    deepEqual(all(one), [["good", 1]]);
    await one.db.close();
  }));
