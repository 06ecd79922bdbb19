/**
 * Crashes: a storage that fails, shortens or freezes at the n-th operation, for
 * every n of a whole workload, and every image that a power cut may leave.
 */

import { equal, ok } from "node:assert/strict";
import {
  DatabaseError,
  defineSchema,
  field,
  openDatabase,
  type Storage,
} from "../mod.ts";
import {
  type FaultyOptions,
  type FaultyStorage,
  faultyStorage,
  type Kept,
} from "./kit/mod.ts";
import { isTried } from "./kit/tier.ts";

const Note = defineSchema("note", {
  text: field.string(),
  size: field.number().default(0),
}, {
  indexes: [["size"]],
});

type Mode = "default" | "trusted" | "fast";

/** What was told to be durable, by id; each value of an id is later than the one before. */
class Promised {
  readonly acknowledged = new Map<string, number>();
  readonly written = new Map<string, number>();
  /** Pairs that were written in one transaction. */
  readonly pairs: [string, string][] = [];
}

/** Writes, updates, transactions, checkpoints and reopens; ends early when the storage fails. */
async function workload(
  storage: Storage,
  mode: Mode,
  promised: Promised,
  rounds = 3,
): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const db = await openDatabase({ storage, mode, schemas: [Note] });
    const repo = await db.repository("crash");
    const notes = repo.collection(Note);
    const put = async (id: string, size: number, text: string) => {
      promised.written.set(id, size);
      await notes.upsert({ id, text, size });
      if (mode !== "fast") promised.acknowledged.set(id, size);
    };
    for (let i = 0; i < 4; i++) {
      await put(`one-${round}-${i}`, i + 1, "x".repeat(i * 40));
    }
    await put("shared", round + 1, `round ${round}`);
    const pair: [string, string] = [`left-${round}`, `right-${round}`];
    promised.pairs.push(pair);
    const both = repo.transact((tx) => {
      for (const id of pair) {
        tx.collection(Note).create({ id, text: "y".repeat(700) });
      }
    });
    await both;
    if (mode !== "fast") {
      for (const id of pair) promised.acknowledged.set(id, 0);
    }
    await Promise.all([1, 2, 3].map((i) => put(`many-${round}-${i}`, i, "z")));
    if (round % 3 === 1) await repo.checkpoint();
    await repo.durable();
    for (const [id, size] of promised.written) {
      promised.acknowledged.set(id, size);
    }
    await db.close();
  }
}

/** Opens an image and checks that every promise holds. */
async function check(
  image: Storage,
  mode: Mode,
  promised: Promised,
  what: string,
): Promise<void> {
  const db = await openDatabase({ storage: image, mode, schemas: [Note] });
  const repo = await db.repository("crash");
  const notes = repo.collection(Note);
  for (const [id, size] of promised.acknowledged) {
    const note = notes.get(id);
    ok(note !== undefined, `${what}: ${id} was acknowledged and is lost`);
    ok(
      note.size >= size,
      `${what}: ${id} went back from ${size} to ${note.size}`,
    );
  }
  for (const [left, right] of promised.pairs) {
    equal(notes.has(left), notes.has(right), `${what}: half a transaction`);
  }
  const report = await repo.verify();
  ok(report.ok, `${what}: ${report.damage?.reason}`);
  await notes.upsert({ id: "after", text: "life goes on" });
  await db.close();
  const again = await openDatabase({ storage: image, mode, schemas: [Note] });
  const reopened = (await again.repository("crash")).collection(Note);
  ok(reopened.has("after"), `${what}: a write after recovery is lost`);
  equal(
    reopened.count(),
    countKnown(promised, reopened.keys()),
    `${what}: unknown items`,
  );
  await again.close();
}

function countKnown(promised: Promised, keys: string[]): number {
  const known = new Set([
    ...promised.written.keys(),
    ...promised.pairs.flat(),
    "after",
  ]);
  return keys.filter((key) => known.has(key)).length;
}

async function runOnce(
  options: FaultyOptions,
  mode: Mode,
  rounds?: number,
): Promise<[FaultyStorage, Promised]> {
  const storage = faultyStorage(options);
  const promised = new Promised();
  try {
    await workload(storage, mode, promised, rounds);
  } catch (error) {
    ok(error instanceof DatabaseError, `an uncoded error came out: ${error}`);
  }
  return [storage, promised];
}

async function operationsOf(mode: Mode): Promise<number> {
  const [storage] = await runOnce({}, mode);
  return storage.operations;
}

const images: Kept[] = ["synced", "all", 1, 2];

for (const mode of ["default", "trusted", "fast"] as const) {
  for (const slow of [false, true]) {
    const name = `${mode} mode on a ${slow ? "slow" : "quick"} medium`;
    Deno.test(`a power cut at every operation loses nothing acknowledged: ${name}`, async () => {
      const operations = await operationsOf(mode);
      ok(operations > 40, `the workload has ${operations} operations`);
      for (let n = 1; n <= operations; n++) {
        if (!isTried(n, 23)) continue;
        const [storage, promised] = await runOnce({ freezeAt: n, slow }, mode);
        for (const kept of images) {
          await check(
            storage.powerCut(kept),
            mode,
            promised,
            `frozen at ${n}, kept ${kept}`,
          );
        }
      }
    });
  }

  Deno.test(`a failing or short operation loses nothing acknowledged: ${mode} mode`, async () => {
    const operations = await operationsOf(mode);
    for (let n = 1; n <= operations; n++) {
      if (!isTried(n, 23)) continue;
      for (const fault of [{ failAt: n }, { shortenAt: n }]) {
        const options: FaultyOptions = {
          ...fault,
          code: n % 2 ? "storage-full" : "storage-failed",
        };
        const [storage, promised] = await runOnce(options, mode);
        for (const kept of ["all", 3] as const) {
          await check(
            storage.powerCut(kept),
            mode,
            promised,
            `${JSON.stringify(fault)}, kept ${kept}`,
          );
        }
      }
    }
  });
}

Deno.test("accidents at each of a few hundred operations lose nothing acknowledged", async () => {
  const rounds = 10;
  const [{ operations }] = await runOnce({}, "default", rounds);
  ok(operations > 200, `the workload has ${operations} operations`);
  for (let n = 1; n <= operations; n++) {
    if (!isTried(n, 23)) continue;
    const fault = (["freezeAt", "failAt", "shortenAt"] as const)[n % 3]!;
    const options = { [fault]: n, slow: n % 2 === 0 };
    const [storage, promised] = await runOnce(options, "default", rounds);
    const image = storage.powerCut(n);
    await check(image, "default", promised, `${fault} ${n}`);
  }
});

Deno.test("what a failed sync left in the page cache alone is written anew before anything is put behind it", async () => {
  for (const mode of ["default", "trusted", "fast"] as const) {
    for (const count of [1, 30]) {
      const storage = faultyStorage({});
      const db = await openDatabase({ storage, mode, schemas: [Note] });
      const repo = await db.repository("crash");
      const notes = repo.collection(Note);
      await notes.create({ id: "a", text: "kept" });
      await repo.durable();
      const pending = Array.from(
        { length: count },
        (_, i) => notes.create({ id: `b${i}`, text: "in the cache" }),
      );
      const settled = Promise.allSettled(pending.map(({ durable }) => durable));
      storage.failNextSync();
      await repo.durable().catch(() => {});
      await settled;
      storage.loseUnsynced();
      const next = storage.nextProcess();
      const again = await openDatabase({ storage: next, schemas: [Note] });
      const reopened = await again.repository("crash");
      const seen = reopened.collection(Note).keys().length;
      await reopened.collection(Note).create({ id: "c", text: "behind" });
      await reopened.durable();
      next.freeze();
      const cut = next.powerCut("synced");
      const last = await openDatabase({ storage: cut, schemas: [Note] });
      const found = (await last.repository("crash")).collection(Note);
      equal(found.get("c")?.text, "behind", mode);
      equal(found.keys().length, seen + 1, `${mode} ${count}`);
      await last.close();
    }
  }
});

Deno.test("after a failed sync the repository is read-only and says why", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("crash");
  const notes = repo.collection(Note);
  await notes.create({ id: "a", text: "kept" });
  storage.failNext();
  const write = notes.create({ id: "b", text: "lost" });
  let failure: unknown;
  await write.durable.catch((error: unknown) => failure = error);
  ok(failure instanceof DatabaseError);
  equal(repo.status().failure !== undefined, true);
  let refused: unknown;
  try {
    notes.create({ id: "c", text: "refused" });
  } catch (error) {
    refused = error;
  }
  ok(refused instanceof DatabaseError);
  equal(notes.get("a")?.text, "kept");
  await db.close().catch(() => {});
});
