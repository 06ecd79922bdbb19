/**
 * Folders that an earlier version wrote, or this one: they are opened, say what
 * was to be read, and go on.
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { recordKind } from "../../repo/log/format.ts";
import type { Repository } from "../../mod.ts";
import { replicaOf } from "../../src/db/internals.ts";
import {
  folderOf,
  IDENTITY,
  Leaf,
  modes,
  NAME,
  openCorpus,
  readFiles,
  saidOf,
  storageOf,
} from "./corpus.ts";

const BYTES_MAX = 250 * 1024;

function kindsOf(repo: Repository): Set<number> {
  const kinds = new Set<number>();
  const { log } = replicaOf(repo).loaded;
  log.records(0, log.end, (kind) => void kinds.add(kind));
  return kinds;
}

for (const mode of modes) {
  for (const identity of [IDENTITY, "elsewhere"]) {
    const place = identity === IDENTITY ? "where it lay" : "as a copy";
    Deno.test(`the ${mode} folder of the corpus opens ${place}, says what it said, and goes on`, async () => {
      const text = Deno.readTextFileSync(
        new URL("expected.json", folderOf(mode)),
      );
      const storage = storageOf(readFiles(folderOf(mode)), identity);
      const db = await openCorpus(storage, { seed: 8 });
      const repo = await db.repository(NAME);
      deepEqual(saidOf(repo), JSON.parse(text));
      const { loaded } = replicaOf(repo);
      equal(loaded.checkpoint !== undefined, mode === "default");
      deepEqual([loaded.skipped, loaded.recovery.clean], [[], true]);
      const { refusals } = repo.sync.status;
      deepEqual(refusals.map(({ reason }) => reason), [
        "denied",
        "denied",
        "denied",
      ]);
      const leaves = repo.collection(Leaf);
      await leaves.update("shared", {
        name: "Goes on",
        votes: { increment: 1 },
        steps: { insert: [{ at: 0, value: "new" }] },
        body: { splice: [{ at: 0, insert: "New: " }] },
      });
      await leaves.create({ id: "new", tags: ["new"] });
      await leaves.delete("full");
      const then = saidOf(repo);
      await db.close();

      const again = await openCorpus(storage, { seed: 9 });
      const reopened = await again.repository(NAME);
      deepEqual(saidOf(reopened), then);
      ok(then.items.leaf!.new !== undefined);
      equal(then.items.leaf!.full, undefined);
      equal((await reopened.verify()).ok, true);
      await again.close();
    });
  }
}

Deno.test("the corpus has records of every kind, several segments, and is small", async () => {
  const kinds = new Set<number>();
  const formats = new Set<number>();
  let bytes = 0;
  for (const mode of modes) {
    const files = readFiles(folderOf(mode));
    for (const [, { length }] of files) bytes += length;
    bytes += Deno.statSync(new URL("expected.json", folderOf(mode))).size;
    ok(files.filter(([name]) => name.includes("/log-")).length > 2);
    const db = await openCorpus(storageOf(files));
    const repository = await db.repository(NAME);
    for (const kind of kindsOf(repository)) kinds.add(kind);
    replicaOf(repository).commits.each(({ batch: { bytes, commits } }) => {
      for (const { payloadAt } of commits) formats.add(bytes[payloadAt]!);
    });
    await db.close();
  }
  ok(bytes < BYTES_MAX);
  for (const format of [1, 3, 4]) ok(formats.has(format), `format ${format}`);
  for (const kind of Object.values(recordKind)) ok(kinds.has(kind), `${kind}`);
  ok([...kinds].some((kind) => kind >= 32 && kind < 48));
  ok([...kinds].some((kind) => kind > 51));
});
