/** Servers and clients whose storage fails: who hears of it, and how they go on. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { openDatabase } from "../mod.ts";
import { faultyStorage } from "./kit/faulty_storage.ts";
import { until } from "./kit/patience.ts";
import { clientOf, hasNote, Note, textsOf } from "./server_clients.ts";
import { ANN, BOB, withServer } from "./server_place.ts";

Deno.test("server: a failed sync is told in the log, by /healthz and /metrics, and to its clients, who go on by themselves", async () => {
  const storage = faultyStorage({});
  await withServer({ storage }, async ({ server, records, ask }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    await ann.notes.create({ text: "before" }).synced;
    await hasNote(bob, "before");
    const states: string[] = [];
    const end = bob.repo.sync.subscribe(() => {
      const { state, reason } = bob.repo.sync.status;
      states.push(`${state} ${reason?.code}`);
    });
    storage.failNextSync();
    const write = ann.notes.create({ text: "lost for now" });
    await until(
      () => states.includes("refused unavailable"),
      () => `bob hears of it: ${states.join()}`,
    );
    const told = records.find(({ event }) => event === "repository-failing");
    equal(told?.level, "error");
    equal(told?.repository, "team/a");
    await write.synced;
    await hasNote(bob, "lost for now");
    end();
    ok(records.some(({ event }) => event === "repository-recovered"));
    deepEqual(await (await ask("/healthz")).json(), { status: "ok" });
    match(
      await (await ask("/metrics")).text(),
      /sheaf_failing_repositories 0/,
    );
  });
});

Deno.test("server: as long as its storage fails it says so, and loses nothing", async () => {
  const storage = faultyStorage({});
  await withServer({ storage }, async ({ server, ask }) => {
    await using ann = await clientOf(server, { token: ANN });
    await ann.notes.create({ text: "before" }).synced;
    storage.failSyncs(true);
    const write = ann.notes.create({ text: "kept by ann" });
    const isFailing = async () => (await ask("/healthz")).status === 503;
    await until(isFailing, "it says that it fails");
    match(
      await (await ask("/metrics")).text(),
      /sheaf_failing_repositories 1/,
    );
    equal(ann.repo.sync.status.unsent.commits, 1);
    equal(ann.repo.sync.status.state, "refused");
    storage.failSyncs(false);
    await write.synced;
    deepEqual(textsOf(ann), ["before", "kept by ann"]);
  });
});

Deno.test("a read that fails throws out of no status", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("a");
  for (let i = 0; i < 5; i++) {
    await repo.collection(Note).create({ text: `${i}` });
  }
  for (let i = 1; i < 10; i++) {
    storage.failReadIn(i);
    equal(typeof repo.sync.status.unsent.commits, "number");
    equal(repo.status().commits, 5);
    equal(db.storage.status().open.length, 1);
    storage.failReadIn(Infinity);
  }
  equal(repo.sync.status.unsent.commits, 5);
  await db.close();
});

Deno.test("a database tells at once that a log cannot be written any more", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("a");
  await repo.collection(Note).create({ text: "kept" });
  let told = 0;
  db.storage.subscribe(() => told++);
  storage.failNextSync();
  await repo.collection(Note).create({ text: "lost" }).durable.catch(() => {});
  await until(() => told > 0, "it is told");
  const [incident] = db.storage.status().incidents;
  equal(incident?.code, "storage-failed");
  match(incident!.message, /^a: /);
  await db.close().catch(() => {});
});
