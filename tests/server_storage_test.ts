/** Servers and clients whose storage fails: who hears of it, and how they go on. */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import type { Replica } from "../repo/mod.ts";
import type { Server } from "../server/mod.ts";
import { replicaOf } from "../src/db/internals.ts";
import { type FaultyStorage, faultyStorage } from "./kit/faulty_storage.ts";
import { until } from "./kit/patience.ts";
import { seededRandom } from "./kit/random.ts";
import { sized } from "./kit/tier.ts";
import { ManualWorld, turns } from "./kit/replica_place.ts";
import { clientOf, connect, hasNote, Note, textsOf } from "./server_clients.ts";
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

/** Spoils some bytes of a file behind everybody's back; more than a checksum tells of. */
function rot(storage: FaultyStorage, name: string, at: number): void {
  for (const [i, byte] of [0x55, 0x0f, 0xaa].entries()) {
    const was = new Uint8Array(1);
    storage.open(name)!.readAt(was, at + 7 * i);
    storage.spoil(name, at + 7 * i, was[0]! ^ byte);
  }
}

/** Files of a storage whose names match, and their lengths. */
function filesLike(
  storage: FaultyStorage,
  pattern: RegExp,
): [string, number][] {
  const found: [string, number][] = [];
  for (const folder of storage.folders("repositories")) {
    for (const file of storage.list(`repositories/${folder}`)) {
      const name = `repositories/${folder}/${file}`;
      if (pattern.test(file)) found.push([name, storage.open(name)!.size()]);
    }
  }
  return found;
}

/** As fast as it goes. */
const scrub = { stepMs: 1, stepBytes: 4_096, everyMs: 1 };

Deno.test("server: rot in its files is found while it runs, repaired, and filled by its clients", async () => {
  const random = seededRandom(5);
  const storage = faultyStorage({});
  await withServer({ storage, scrub }, async ({ server, records }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    const texts = Array.from({ length: 100 }, (_, i) => `${i}`);
    for (const text of texts) await ann.notes.create({ text }).synced;
    await bob.notes.create({ text: "of bob" }).synced;
    await hasNote(bob, "99");
    for (let round = 1; round <= 3; round++) {
      const team = filesLike(storage, /^log-/).map(([name]) => name)
        .find((name) => name.includes(folderOfTeam))!;
      const { bytes } = await logOf(server);
      rot(storage, team, 64 + Math.floor(random() * (bytes - 200)));
      await until(
        () =>
          records.filter(({ event }) => event === "repository-recovered")
            .length >= round,
        () =>
          `it is opened again, round ${round}: ${
            records.map(({ event }) => event).slice(-20)
          }`,
      );
      await ann.notes.create({ text: `after ${round}` }).synced;
      await until(async () => {
        const { lost, count } = await logOf(server);
        return lost === undefined && count === 101 + round;
      }, `everything is there again, round ${round}`);
    }
    await hasNote(bob, "after 3");
    equal(textsOf(bob).length, 104);
  });
});

const folderOfTeam = (await crypto.subtle.digest(
  "SHA-256",
  new TextEncoder().encode("team/a"),
).then((hash) => new Uint8Array(hash).toHex())).slice(0, 32);

/** How the server's own repository stands. */
async function logOf(server: Server) {
  const repo = await replicaOfTeam(server);
  if (repo === undefined) return { bytes: 0, lost: "closed", count: 0 };
  const { logBytes, recovery } = repo.status();
  return {
    bytes: logBytes,
    lost: recovery.lost,
    count: repo.state.find("note")?.count ?? 0,
  };
}

function replicaOfTeam({ database }: Server): Promise<Replica | undefined> {
  const { open } = database.storage.status();
  if (!open.includes("team/a")) return Promise.resolve(undefined);
  return database.repository("team/a").then(replicaOf);
}

Deno.test("a client finds rot while it runs, and is filled by the server after the next opening", async () => {
  await withServer({}, async ({ server }) => {
    const storage = faultyStorage({});
    const open = () =>
      openDatabase({
        storage,
        rootKey: server.rootKey,
        schemas: [Note],
        scrub,
      });
    const db = await open();
    const repo = await db.repository("team/a");
    connect(db, server, ANN);
    for (let i = 0; i < 60; i++) {
      await repo.collection(Note).create({ text: `${i}` }).synced;
    }
    const [[name]] = filesLike(storage, /^log-/) as [[string, number]];
    rot(storage, name, Math.floor(repo.status().logBytes / 2));
    const codes = () => db.storage.status().incidents.map(({ code }) => code);
    await until(() => codes().includes("log-damaged"), "it is found");
    await repo.collection(Note).create({ text: "meanwhile" }).synced;
    await db.close();
    const again = await open();
    const mended = await again.repository("team/a");
    const before = mended.status().recovery.lost;
    ok(before !== undefined && before.commits > 0);
    ok(mended.collection(Note).count() >= 59);
    connect(again, server, ANN);
    await until(
      () => mended.status().recovery.lost === undefined,
      "what is missing comes back",
    );
    equal(mended.collection(Note).count(), 61);
    await again.close();
    const last = await open();
    equal((await last.repository("team/a")).collection(Note).count(), 61);
    await last.close();
  });
});

Deno.test("a scrub sets one flipped bit of a log right while the database runs", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note], scrub });
  const repo = await db.repository("a");
  for (let i = 0; i < 30; i++) {
    await repo.collection(Note).create({ text: `${i}` });
  }
  const [[name]] = filesLike(storage, /^log-/) as [[string, number]];
  const { logBytes } = repo.status();
  const random = seededRandom(9);
  for (let i = 1; i <= 10; i++) {
    const at = 64 + Math.floor(random() * (logBytes - 64));
    const was = new Uint8Array(1);
    storage.open(name)!.readAt(was, at);
    storage.spoil(name, at, was[0]! ^ 1 << i % 8);
    await until(
      () => db.storage.status().incidents.length >= i,
      `bit ${i} at ${at} is found`,
    );
    equal(db.storage.status().incidents.at(-1)!.code, "log-mended");
    ok((await repo.verify()).ok);
  }
  await db.close();
});

Deno.test("a scrub that cannot write what it sets right makes the log read-only", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note], scrub });
  const repo = await db.repository("a");
  await repo.collection(Note).create({ text: "kept" }).durable;
  const [[name]] = filesLike(storage, /^log-/) as [[string, number]];
  const at = repo.status().logBytes - 8;
  const was = new Uint8Array(1);
  storage.open(name)!.readAt(was, at);
  storage.failSyncs(true);
  storage.spoil(name, at, was[0]! ^ 1);
  const told = () => db.storage.status().incidents.map(({ code }) => code);
  await until(() => told().length > 0, "it is told");
  equal(told()[0], "storage-failed");
  equal(repo.status().failure?.code, "storage-readonly");
  storage.failSyncs(false);
  await db.close();
  const again = await openDatabase({ storage, schemas: [Note] });
  equal((await again.repository("a")).collection(Note).count(), 1);
  await again.close();
});

Deno.test("a scrub writes the keys anew when their file has rotted", async () => {
  const storage = faultyStorage({});
  const db = await openDatabase({ storage, schemas: [Note], scrub });
  const repo = await db.repository("a");
  await repo.collection(Note).create({ text: "kept" });
  const bytes = new Uint8Array(storage.open("database")!.size());
  storage.open("database")!.readAt(bytes, 0);
  storage.spoil("database", 30, bytes[30]! ^ 0x77);
  await until(
    () =>
      db.storage.status().incidents.some(({ code }) => code === "keys-mended"),
    "the keys are written anew",
  );
  await db.close();
  const again = await openDatabase({ storage, schemas: [Note] });
  equal((await again.repository("a")).collection(Note).count(), 1);
  deepEqual(again.sessionKey, db.sessionKey);
  await again.close();
});

Deno.test("a scrub goes on where the last one ended", async () => {
  const storage = faultyStorage({});
  const world = new ManualWorld();
  const pace = { stepMs: 10, stepBytes: 1, everyMs: 1_000 };
  const options = { storage, schemas: [Note], scrub: pace, world };
  const db = await openDatabase(options);
  const repo = await db.repository("a");
  for (let i = 0; i < 30; i++) {
    const write = repo.collection(Note).create({ text: `${i}` });
    await write.durable;
  }
  const place = () => filesLike(storage, /^scrub$/).length;
  for (let i = 0; i < 5; i++) {
    world.advance(10);
    await turns(50);
  }
  await db.close();
  equal(place(), 1);
  const again = await openDatabase(options);
  await again.repository("a");
  for (let i = 0; i < 100; i++) {
    world.advance(10);
    await turns(50);
  }
  await again.close();
  equal(place(), 0, "a round was whole");
});

Deno.test("server: whatever byte of whatever file rots while it runs, every item is there again", async () => {
  const random = seededRandom(31);
  const storage = faultyStorage({});
  await withServer({ storage, scrub, idleMs: 60_000 }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    for (let i = 0; i < 40; i++) {
      await ann.notes.create({ id: `n${i}`, text: `${i}` }).synced;
    }
    for (let i = 0; i < 40; i += 2) {
      await bob.notes.update(`n${i}`, { text: `${i} of bob` }).synced;
    }
    const want = Array.from(
      { length: 40 },
      (_, i) => i % 2 === 0 ? `${i} of bob` : `${i}`,
    );
    const isThere = async () => {
      const replica = await replicaOfTeam(server);
      if (replica === undefined) return false;
      const { lost } = replica.status().recovery;
      const table = replica.state.find("note");
      if (lost !== undefined || table === undefined) return false;
      return want.every((text, i) =>
        table.cellOf(`n${i}`)?.item?.["text"] === text
      );
    };
    const kinds = [/^log-/, /^(checkpoint|outline)-/, /^sync$/];
    for (let round = 0; round < sized(9, 40); round++) {
      const replica = await replicaOfTeam(server);
      if (round % 3 === 1) await replica?.checkpoint().catch(() => {});
      const files = filesLike(storage, kinds[round % 3]!)
        .filter(([name, size]) => name.includes(folderOfTeam) && size > 100);
      const [name, size] = files.at(-1) ?? [];
      if (name === undefined) continue;
      const { bytes } = await logOf(server);
      const room = name.includes("/log-") ? bytes : size!;
      rot(storage, name, Math.floor(random() * (room - 20)));
      // A write goes through the repaired repository.
      await ann.notes.create({ text: `round ${round}` }).synced;
      await ann.repo.sync.ready;
      const { incidents } = server.database.storage.status();
      await until(
        async () => await isThere() && !await isRotten(server, storage),
        () => `round ${round}, ${name}: ${incidents.at(-1)?.message}`,
      );
    }
    const isSame = () =>
      textsOf(ann).sort().join() === textsOf(bob).sort().join();
    await until(isSame, "both clients have the same");
  });
});

/** Is there anything in the server's repository that does not verify? */
async function isRotten(
  server: Server,
  storage: FaultyStorage,
): Promise<boolean> {
  const { open } = server.database.storage.status();
  if (!open.includes("team/a")) return true;
  if (filesLike(storage, /^damaged$/).length > 0) return true;
  try {
    return !(await (await server.database.repository("team/a")).verify()).ok;
  } catch {
    return true; // It is just being closed.
  }
}

Deno.test("server: what is damaged when it is opened is repaired, and filled by its clients", async () => {
  const storage = faultyStorage({});
  const medium = memoryStorage();
  await withServer({ storage }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN, storage: medium });
    for (let i = 0; i < 30; i++) {
      await ann.notes.create({ text: `${i}` }).synced;
    }
  });
  for (const [name, size] of filesLike(storage, /^log-/)) {
    if (name.includes(folderOfTeam)) rot(storage, name, size >> 1);
  }
  storage.removeAll(/\/(checkpoint|outline)-/);
  await withServer({ storage }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN, storage: medium });
    await ann.notes.create({ text: "after" }).synced;
    await until(async () => {
      const { lost, count } = await logOf(server);
      return lost === undefined && count === 31;
    }, "everything is there again");
  });
});
