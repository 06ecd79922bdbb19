/** A real server and real clients over WebSocket on 127.0.0.1. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import {
  defineRules,
  memoryStorage,
  openDatabase,
  rulesFor,
  type Storage,
} from "../mod.ts";
import { internalsOf, replicaOf } from "../src/db/internals.ts";
import { copyDatabase, createServer, type LogRecord } from "../server/mod.ts";
import { until, within } from "./kit/patience.ts";
import {
  type Client,
  clientOf,
  connect,
  hasNote,
  Note,
  syncFits,
  textsOf,
} from "./server_clients.ts";
import { ANN, BOB, serverOptions, withServer } from "./server_place.ts";

Deno.test("server: brings what one client writes to the others, durable first", () =>
  withServer({}, async ({ server, ask }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    await ann.notes.create({ text: "from ann" }).synced;
    await hasNote(bob, "from ann");
    await bob.notes.create({ text: "from bob" }).synced;
    await hasNote(ann, "from bob");
    equal(ann.db.user, "ann");
    deepEqual(server.status().open, ["team/a"]);
    equal(server.status().connections, 2);
    const text = await (await ask("/metrics")).text();
    match(text, /sheaf_commits_admitted_total 2/);
    match(text, /sheaf_ack_seconds_count 2/);
    match(text, /sheaf_sessions 2/);
    match(text, /sheaf_received_bytes_total [1-9]/);
  }));

Deno.test("server: a plain database on its storage holds what clients wrote", async () => {
  const storage = memoryStorage();
  await withServer({ storage }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await ann.notes.create({ text: "kept" }).synced;
  });
  await using db = await openDatabase({ storage, schemas: [Note] });
  deepEqual(
    textsOf({ notes: (await db.repository("team/a")).collection(Note) }),
    ["kept"],
  );
  const history = (await db.repository("team/a")).history();
  equal(history.at(-1)!.user, "ann");
});

Deno.test("server: its own repository is closed to everybody, and others to whom no rule lets read", () => {
  const rules = defineRules({
    "team/{team}": {
      read: ({ session, params }) =>
        session.user === params.team || `only ${params.team} may read`,
      others: true,
    },
  });
  return withServer({ rules }, async ({ server }) => {
    for (const repository of ["_server", "team/bob", "elsewhere"]) {
      const options = { token: ANN, repository };
      await using ann = await clientOf(server, options);
      await syncFits(ann, ({ state }) => state === "refused", "it is refused");
      equal(ann.repo.sync.status.reason?.code, "forbidden", repository);
    }
    const options = { token: ANN, repository: "team/ann" };
    await using ann = await clientOf(server, options);
    await ann.notes.create({ text: "mine" }).synced;
  });
});

Deno.test("server: refuses what a rule denies, and the author hears rule and reason", () => {
  const allowed = () => true;
  const serverRules = defineRules({
    "team/{team}": {
      read: allowed,
      collections: [
        rulesFor(Note, {
          create: ({ after }) => after.text !== "bad" || "not that word",
        }),
      ],
    },
  });
  return withServer({ rules: serverRules }, async ({ server, ask }) => {
    await using ann = await clientOf(server, { token: ANN });
    const bad = ann.notes.create({ text: "bad" });
    const good = ann.notes.create({ text: "good" });
    await rejects(bad.synced, { code: "refused", message: /not that word/ });
    await good.synced;
    deepEqual(textsOf(ann), ["good"]);
    equal(ann.repo.sync.status.refusals[0]?.rule, "team/{team} note.create");
    const text = await (await ask("/metrics")).text();
    match(text, /sheaf_batches_refused_total\{reason="denied"\} 1/);
  });
});

Deno.test("server: closing loses nothing that was acknowledged, and clients go on with its successor", async () => {
  const storage = memoryStorage();
  const first = await createServer(serverOptions({ storage }, []));
  const port = Number(new URL(first.url).port);
  await using ann = await clientOf(first, { token: ANN });
  const synced: string[] = [];
  const writes = Array.from({ length: 200 }, (_, i) => {
    const write = ann.notes.create({ text: `${i}` });
    write.synced.then(() => synced.push(`${i}`));
    return write;
  });
  await writes[20]!.synced;
  const closing = first.close();
  equal(first.status().isClosing, true);
  await closing;
  const atClose = [...synced];
  {
    await using db = await openDatabase({ storage, schemas: [Note] });
    const notes = (await db.repository("team/a")).collection(Note);
    const kept = new Set(textsOf({ notes }));
    deepEqual(atClose.filter((text) => !kept.has(text)), []);
  }
  await using _second = await createServer(
    serverOptions({ storage, port }, []),
  );
  await Promise.all(writes.map((write) => write.synced));
});

Deno.test("server: closes a repository that nobody uses, and opens it again with its epoch", () =>
  withServer({ idleMs: 20 }, async ({ server, records }) => {
    const storage = memoryStorage();
    {
      await using ann = await clientOf(server, { token: ANN, storage });
      await ann.notes.create({ text: "before" }).synced;
    }
    await until(
      () => server.status().open.length === 0,
      "no repository is open",
    );
    ok(records.some(({ event }) => event === "repository-closing"));
    await using ann = await clientOf(server, { token: ANN, storage });
    await using bob = await clientOf(server, { token: BOB });
    await ann.notes.create({ text: "after" }).synced;
    await hasNote(bob, "before");
    deepEqual(ann.repo.sync.status.incidents, []);
  }));

Deno.test("server: keeps as many repositories open as it may, and closes idle ones for others", () =>
  withServer({ openMax: 1, idleMs: 60_000 }, async ({ server }) => {
    {
      await using one = await clientOf(server, { repository: "one" });
      await one.notes.create({ text: "1" }).synced;
    }
    await until(
      () => server.status().connections === 0,
      "no connection is left",
    );
    deepEqual(server.status().open, ["one"]);
    await using two = await clientOf(server, { repository: "two" });
    await two.notes.create({ text: "2" }).synced;
    deepEqual(server.status().open, ["two"]);
  }));

Deno.test("server: closes no repository that somebody uses for another one", () =>
  withServer({ openMax: 1 }, async ({ server }) => {
    await using one = await clientOf(server, { repository: "one" });
    await one.notes.create({ text: "1" }).synced;
    await using two = await clientOf(server, { repository: "two" });
    await syncFits(
      two,
      ({ state, reason }) => state === "live" || reason !== undefined,
      "it is live or refused",
    );
    equal(two.repo.sync.status.reason?.code, "unavailable");
    deepEqual(server.status().open, ["one"]);
    await one.notes.create({ text: "2" }).synced;
  }));

Deno.test("server: keeps what a revoked device wrote offline, for somebody to accept or drop", () =>
  withServer({}, async ({ server, ask }) => {
    await using bob = await clientOf(server, { token: BOB });
    const storage = memoryStorage();
    await using ann = await clientOf(server, { token: ANN, storage });
    await ann.notes.create({ text: "before" }).synced;
    await hasNote(bob, "before");
    await ann.db.connection?.close();
    const refused = [
      ann.notes.create({ text: "offline 1" }),
      ann.notes.create({ text: "offline 2" }),
    ];
    await Promise.all(refused);
    const { sessions, repositories } = await server.revoke(
      { user: "ann" },
      "stolen",
    );
    deepEqual([sessions.length, repositories], [1, 1]);
    connect(ann.db, server, ANN);
    for (const write of refused) {
      await rejects(write.synced, { code: "refused", message: /revoked/ });
    }
    const entries = server.quarantine();
    ok(entries.length > 0);
    equal(entries.reduce((sum, { count }) => sum + count, 0), 2);
    equal(entries[0]!.user, "ann");
    deepEqual(textsOf(bob), ["before"]);
    const metrics = await (await ask("/metrics")).text();
    match(metrics, /sheaf_quarantine_entries [1-9]/);
    for (const { id } of entries) ok(await server.accept(id) > 0);
    await hasNote(bob, "offline 2");
    deepEqual(textsOf(bob), ["before", "offline 1", "offline 2"]);
    deepEqual(server.quarantine(), []);
  }));

Deno.test("server: a batch that was dropped from quarantine is gone", () =>
  withServer({}, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await ann.notes.create({ text: "before" }).synced;
    await ann.db.connection?.close();
    const write = ann.notes.create({ text: "offline" });
    await write;
    await server.revoke({ user: "ann" });
    connect(ann.db, server, ANN);
    await rejects(write.synced, { code: "refused" });
    const [entry] = server.quarantine();
    await server.drop(entry!.id);
    deepEqual(server.quarantine(), []);
    await rejects(server.drop(entry!.id), { code: "not-found" });
  }));

Deno.test("server: a session that is connected when it is revoked is thrown out and reads nothing more", () =>
  withServer({}, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await using bob = await clientOf(server, { token: BOB });
    await ann.notes.create({ text: "before" }).synced;
    await server.revoke({ user: "ann" });
    await bob.notes.create({ text: "secret" }).synced;
    const late = ann.notes.create({ text: "late" });
    await rejects(late.synced, { code: "refused" });
    deepEqual(textsOf(ann), ["before"]);
    deepEqual(textsOf(bob), ["before", "secret"]);
  }));

Deno.test("server: a revocation holds in repositories that were closed when it was made", () =>
  withServer({ idleMs: 10 }, async ({ server }) => {
    const storage = memoryStorage();
    {
      await using ann = await clientOf(server, { token: ANN, storage });
      await ann.notes.create({ text: "before" }).synced;
    }
    await until(
      () => server.status().open.length === 0,
      "no repository is open",
    );
    equal((await server.revoke({ user: "ann" })).repositories, 0);
    await using ann = await clientOf(server, { token: ANN, storage });
    await rejects(ann.notes.create({ text: "late" }).synced, {
      code: "refused",
    });
    await using bob = await clientOf(server, { token: BOB });
    await bob.repo.sync.ready;
    deepEqual(textsOf(bob), ["before"]);
  }));

Deno.test("server: a repository that was closed has the record of a revocation before anybody uses it", () =>
  withServer({ idleMs: 10 }, async ({ server }) => {
    const storage = memoryStorage();
    {
      await using ann = await clientOf(server, { token: ANN, storage });
      await ann.notes.create({ text: "before" }).synced;
    }
    await until(
      () => server.status().open.length === 0,
      "no repository is open",
    );
    await server.revoke({ user: "ann" }, "stolen");
    await using bob = await clientOf(server, { token: BOB });
    await bob.repo.sync.ready;
    const { loaded } = replicaOf(bob.repo);
    const reasons = [...loaded.credentials.revocations].map(({ reason }) =>
      reason
    );
    deepEqual(reasons, ["stolen"]);
    // What came later is refused by Bob himself, whoever brings it.
    await using ann = await clientOf(server, { storage, offline: true });
    await ann.notes.create({ text: "late" });
    const { records } = replicaOf(ann.repo).port().read(0, 1_000_000);
    const judged = replicaOf(bob.repo).receive(records);
    const { verdict } = judged.at(-1)!;
    deepEqual(verdict, {
      verdict: "refuse",
      refusal: { refused: "revoked", detail: "stolen", number: 1 },
    });
    deepEqual(textsOf(bob), ["before"]);
  }));

for (const mode of ["trusted", "fast"] as const) {
  Deno.test(`server: in ${mode} mode it brings commits to others, and takes none of a revoked session`, () =>
    withServer({ mode, idleMs: 10 }, async ({ server }) => {
      const storage = memoryStorage();
      const options = { token: ANN, storage, mode };
      {
        await using ann = await clientOf(server, options);
        await using bob = await clientOf(server, { token: BOB, mode });
        await ann.notes.create({ text: "before" }).synced;
        await hasNote(bob, "before");
      }
      await server.revoke({ user: "ann" });
      await until(
        () => server.status().open.length === 0,
        "no repository is open",
      );
      await using ann = await clientOf(server, options);
      await rejects(ann.notes.create({ text: "late" }).synced, {
        code: "refused",
      });
      await using bob = await clientOf(server, { token: BOB, mode });
      await bob.repo.sync.ready;
      deepEqual(textsOf(bob), ["before"]);
      const [entry] = server.quarantine();
      equal(await server.accept(entry!.id), 1);
      await hasNote(bob, "late");
    }));
}

Deno.test("server: a client of another mode is told so", () =>
  withServer({ mode: "trusted" }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await syncFits(ann, ({ state }) => state === "refused", "it is refused");
    equal(ann.repo.sync.status.reason?.code, "mode-mismatch");
  }));

/** State digests of a repository, to compare replicas. */
async function contentsOf(storage: Storage): Promise<string[]> {
  await using db = await openDatabase({ storage, schemas: [Note] });
  const notes = (await db.repository("team/a")).collection(Note);
  return notes.all().map(({ id, text }) => `${id} ${text}`).sort();
}

Deno.test("server: a backup under load restores to a state that was", async () => {
  const [storage, copy, back] = [0, 1, 2].map(() => memoryStorage());
  await withServer({ storage: storage! }, async ({ server }) => {
    await using ann = await clientOf(server, { token: ANN });
    await ann.repo.sync.ready;
    const before: string[] = [];
    for (let i = 0; i < 50; i++) before.push(`before ${i}`);
    await Promise.all(before.map((text) => ann.notes.create({ text }).synced));
    const load = (async () => {
      for (let i = 0; i < 200; i++) {
        await ann.notes.create({ text: `during ${i}` });
      }
    })();
    const report = await copyDatabase(storage!, copy!);
    deepEqual(report.suspicious, []);
    await load;
    await copyDatabase(copy!, back!);
    const restored = (await contentsOf(back!)).map((line) =>
      line.replace(/^\S+ /, "")
    );
    deepEqual(before.filter((text) => !restored.includes(text)), []);
    const texts = new Set(textsOf(ann));
    deepEqual(restored.filter((text) => !texts.has(text)), []);
    await ann.notes.create({ text: "last" }).synced;
  });
  const again = memoryStorage();
  await copyDatabase(storage!, again);
  deepEqual(await contentsOf(again), await contentsOf(storage!));
});

/** Asked before the note is written: a witness of before it would prove nothing to a second server. */
async function equalWith(client: Client, text: string): Promise<void> {
  await hasNote(client, text);
  const heard = new Date();
  await syncFits(
    client,
    // In the same millisecond it may have been equal without that note.
    ({ equalAt = new Date(0) }) => equalAt > heard,
    "it was found equal",
  );
}

Deno.test("server: a fresh server with the root secret is rebuilt by its clients, and says what is missing", async () => {
  const rootSecret = crypto.getRandomValues(new Uint8Array(32));
  const first = await createServer(serverOptions({ rootSecret }, []));
  const port = Number(new URL(first.url).port);
  await using ann = await clientOf(first, { token: ANN });
  await using bob = await clientOf(first, { token: BOB });
  const equal = [equalWith(ann, "from bob"), equalWith(bob, "from ann")];
  await ann.notes.create({ text: "from ann" }).synced;
  await bob.notes.create({ text: "from bob" }).synced;
  await Promise.all(equal);
  await first.close();
  const records: LogRecord[] = [];
  const options = serverOptions({ rootSecret, port }, records);
  await using second = await createServer(options);
  deepEqual(second.rootKey, first.rootKey);
  await using cid = await clientOf(second);
  await hasNote(cid, "from ann");
  await hasNote(cid, "from bob");
  await until(() => second.status().restoring.length === 0, "all is restored");
  const events = records.map(({ event }) => event);
  ok(events.indexOf("restore-incomplete") < events.indexOf("restore-complete"));
  ok(events.includes("restore-incomplete"));
});

Deno.test("server: what nobody can prove of a session that was revoked after a loss holds up nobody who built on it", async () => {
  const rootSecret = crypto.getRandomValues(new Uint8Array(32));
  const first = await createServer(serverOptions({ rootSecret }, []));
  const port = Number(new URL(first.url).port);
  const ann = await clientOf(first, { token: ANN });
  await using bob = await clientOf(first, { token: BOB });
  await ann.notes.create({ text: "from ann" }).synced;
  await hasNote(bob, "from ann");
  const { signer } = internalsOf(ann.db).keyring.session;
  const sessionKey = signer.publicKey.toHex();
  await ann.db.close();
  await first.close();
  const write = bob.notes.create({ text: "behind it" });
  const options = serverOptions({ rootSecret, port }, []);
  await using second = await createServer(options);
  await second.revoke({ sessionKey });
  await using cid = await clientOf(second);
  await within(write.synced, "the server has what is behind it");
  await hasNote(cid, "behind it");
  // A witness may have come in the last moment.
  const kept = second.quarantine().length;
  const texts = kept === 0 ? ["behind it", "from ann"] : ["behind it"];
  for (const one of [bob, cid]) deepEqual(textsOf(one), texts);
});

Deno.test("server: what a lost server had accepted of a session stands, though it is revoked before anybody came back", async () => {
  const rootSecret = crypto.getRandomValues(new Uint8Array(32));
  const first = await createServer(serverOptions({ rootSecret }, []));
  const port = Number(new URL(first.url).port);
  const ann = await clientOf(first, { token: ANN });
  await using bob = await clientOf(first, { token: BOB });
  const equal = equalWith(bob, "from ann");
  await ann.notes.create({ text: "from ann" }).synced;
  const { signer } = internalsOf(ann.db).keyring.session;
  const sessionKey = signer.publicKey.toHex();
  await equal;
  await ann.db.close();
  await first.close();
  const options = serverOptions({ rootSecret, port }, []);
  await using second = await createServer(options);
  await second.revoke({ sessionKey });
  await using cid = await clientOf(second);
  await hasNote(cid, "from ann");
  await bob.notes.create({ text: "behind it" }).synced;
  deepEqual(second.quarantine(), []);
});

Deno.test("server: a chain that a lost server had accepted comes back in pieces, whatever the rules say of them now", async () => {
  const rules = defineRules({
    "**": {
      read: () => true,
      collections: [rulesFor(Note, {
        create: () => true,
        update: ({ get }) => get(Note, "lock") === undefined,
      })],
    },
  });
  const place = {
    rules,
    rootSecret: crypto.getRandomValues(new Uint8Array(32)),
  };
  const first = await createServer(serverOptions(place, []));
  const port = Number(new URL(first.url).port);
  const ann = await clientOf(first, { token: ANN });
  const { id } = ann.notes.create({ text: "a draft" });
  for (const letter of "abcdefgh") {
    await ann.notes.update(id, { text: letter.repeat(100 * 1024) }).synced;
  }
  // Bob's log begins with what was accepted last.
  await using bob = await clientOf(first, { token: BOB, offline: true });
  bob.notes.create({ id: "lock", text: "no more" });
  const equal = equalWith(bob, "no more");
  connect(bob.db, first, BOB);
  await equal;
  await ann.db.close();
  await first.close();
  await using second = await createServer(
    serverOptions({ ...place, port }, []),
  );
  await using cid = await clientOf(second);
  await hasNote(cid, "h".repeat(100 * 1024));
  await until(() => second.status().restoring.length === 0, "all is restored");
  deepEqual(bob.repo.sync.status.refusals, []);
});

Deno.test("server: nobody takes what a lost server had by coming first, where it says that it was restored", async () => {
  const rules = defineRules({
    "**": {
      read: () => true,
      collections: [rulesFor(Note, { create: () => true })],
    },
  });
  const place = {
    rules,
    rootSecret: crypto.getRandomValues(new Uint8Array(32)),
  };
  const first = await createServer(serverOptions(place, []));
  const port = Number(new URL(first.url).port);
  const storage = memoryStorage();
  const ann = await clientOf(first, { token: ANN, storage });
  const equal = equalWith(ann, "from ann");
  ann.notes.create({ id: "known", text: "from ann" });
  await equal;
  await ann.db.close();
  await first.close();
  const records: LogRecord[] = [];
  await using second = await createServer(
    serverOptions({ ...place, port, restored: true }, records),
  );
  await using mal = await clientOf(second, { repository: "team/a" });
  mal.notes.create({ id: "known", text: "from mal" });
  const isPutOff = ({ event, kind }: LogRecord) =>
    event === "batch-refused" && kind === "restoring";
  await until(() => records.some(isPutOff), "his commit waits");
  await using back = await clientOf(second, { token: ANN, storage });
  await using cid = await clientOf(second);
  await hasNote(cid, "from ann");
  deepEqual(textsOf(cid), textsOf(back));
});
