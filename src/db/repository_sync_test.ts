import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import {
  type Database,
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  type Repository,
} from "../../mod.ts";
import type { Replica } from "../../repo/mod.ts";
import { FakeChannel } from "../../tests/kit/fake_channel.ts";
import { replicaOf } from "./internals.ts";
import type { RepositorySyncing } from "./repository_sync.ts";

const Note = defineSchema("note", { text: field.string() });

interface Subject extends AsyncDisposable {
  readonly db: Database;
  readonly repo: Repository;
  readonly replica: Replica;
  readonly sync: RepositorySyncing;
  readonly channel: FakeChannel;
}

async function subject(storage = memoryStorage()): Promise<Subject> {
  const db = await openDatabase({ storage, schemas: [Note] });
  const repo = await db.repository("a");
  const sync = repo.sync as RepositorySyncing;
  return {
    db,
    repo,
    replica: replicaOf(repo),
    sync,
    channel: new FakeChannel(),
    [Symbol.asyncDispose]: () => db.close(),
  };
}

/** Acknowledges everything that is in the log. */
function acknowledge({ replica, channel }: Subject): void {
  replica.flush();
  for (const { name, length } of replica.graph.chains()) {
    channel.counts.set(name, length);
  }
  const uploadedTo = replica.loaded.log.end;
  channel.server = { uploadedTo, bytes: () => new Uint8Array() };
  channel.tell();
}

/** Connects the channel as a link does. */
function attach({ sync, channel }: Subject): void {
  channel.subscribe(() => sync.changed());
  sync.attach(channel);
}

const refusedAt = (number: number) => ({
  number,
  reason: "denied",
  rule: "a note.create",
  detail: "Not today",
  kept: false,
});

Deno.test("the status is the same object until something of it changes", async () => {
  await using it = await subject();
  const { sync, channel, repo } = it;
  const offline = sync.status;
  equal(offline.state, "offline");
  equal(sync.status, offline);
  equal(sync.getSnapshot(), offline);
  attach(it);
  const connecting = sync.status;
  equal(connecting.state, "connecting");
  channel.tell();
  equal(sync.status, connecting);
  channel.become({ state: "live" });
  equal(sync.status.state, "live");
  equal(repo.sync, sync);
});

Deno.test("who waits for a server without a connection is told what to do", async () => {
  await using it = await subject();
  const { sync, repo } = it;
  const reason = () => sync.status.reason;
  equal(reason(), undefined);
  const ready = sync.ready;
  equal(reason()?.code, "not-connected");
  attach(it);
  it.channel.become({ state: "live" });
  await ready;
  sync.detach();
  equal(reason(), undefined);
  const write = repo.collection(Note).create({ text: "x" });
  const synced = write.synced;
  await write.durable;
  await Promise.resolve();
  equal(reason()?.code, "not-connected");
  match(reason()?.message ?? "", /call `database.connect\(url\)`/);
  attach(it);
  equal(reason(), undefined);
  acknowledge(it);
  await synced;
});

Deno.test("who subscribes hears of each change once, and of none that is none", async () => {
  await using it = await subject();
  const { sync, channel } = it;
  const states: string[] = [];
  const end = sync.subscribe(() => states.push(sync.status.state));
  attach(it);
  channel.tell();
  channel.become({ state: "live" });
  channel.become({ state: "live" });
  sync.detach();
  end();
  attach(it);
  deepEqual(states, ["connecting", "live", "offline"]);
});

Deno.test("ready resolves when it is live for the first time, and stays so", async () => {
  await using it = await subject();
  const { sync, channel } = it;
  const waiting = sync.ready;
  attach(it);
  channel.become({ state: "live" });
  await waiting;
  sync.detach();
  await sync.ready;
});

Deno.test("ready rejects when the repository is closed before, heard or not", async () => {
  const it = await subject();
  const waiting = it.sync.ready;
  await it.db.close();
  await rejects(waiting, { code: "closed" });
  await rejects(it.sync.ready, { code: "closed" });
  const unheard = await subject();
  void unheard.sync.ready;
  await unheard.db.close();
});

Deno.test("what is unsent is counted without a connection, as it is written", async () => {
  await using it = await subject();
  const { sync, repo } = it;
  equal(sync.status.unsent.commits, 0);
  const notes = repo.collection(Note);
  const before = Date.now();
  await notes.create({ text: "one" });
  const { unsent } = sync.status;
  deepEqual([unsent.commits, unsent.bytes > 0], [1, true]);
  ok(unsent.oldest!.getTime() >= before);
  const counts: number[] = [];
  sync.subscribe(() => counts.push(sync.status.unsent.commits));
  await notes.create({ text: "two" });
  equal(sync.status.unsent.commits, 2);
  equal(sync.status.unsent.oldest!.getTime(), unsent.oldest!.getTime());
  deepEqual(counts, [2]);
});

Deno.test("what was acknowledged stays so when the connection is gone", async () => {
  await using it = await subject();
  const { sync, repo, channel } = it;
  const notes = repo.collection(Note);
  const first = notes.create({ text: "one" });
  await first;
  attach(it);
  acknowledge(it);
  channel.become({ equalAt: new Date(7) });
  sync.detach();
  await first.synced;
  deepEqual(sync.status.equalAt, new Date(7));
  equal(sync.status.unsent.commits, 0);
  await notes.create({ text: "two" });
  equal(sync.status.unsent.commits, 1);
});

Deno.test("synced resolves when the commit is acknowledged, not before", async () => {
  await using it = await subject();
  const { repo } = it;
  const writes = ["a", "b"].map((text) =>
    repo.collection(Note).create({ text })
  );
  const done: number[] = [];
  const waits = writes.map((write, i) => write.synced.then(() => done.push(i)));
  await Promise.all(writes);
  attach(it);
  const [chain] = [...it.replica.graph.chains()];
  it.channel.counts.set(chain!.name, 1);
  it.channel.tell();
  await waits[0];
  deepEqual(done, [0]);
  acknowledge(it);
  await waits[1];
  await repo.transact(() => {}).synced; // Nothing was written: nothing to wait for.
});

Deno.test("synced rejects with the rule and the reason when the commit is refused, and what came after moves on", async () => {
  await using it = await subject();
  const { repo, replica, sync } = it;
  const notes = repo.collection(Note);
  const [kept, bad, later] = ["kept", "bad", "later"].map((id) =>
    notes.create({ id, text: id })
  );
  await later;
  attach(it);
  const failing = bad!.synced;
  const arriving = later!.synced;
  const chain = [...replica.graph.chains()][0]!.name;
  let heard = 0;
  sync.subscribe(() => heard++);
  replica.refuse(chain, [refusedAt(1)]);
  await rejects(failing, (error: Error & { code: string }) => {
    equal(error.code, "refused");
    match(error.message, /a note\.create/);
    match(error.message, /Not today/);
    return true;
  });
  ok(heard > 0);
  deepEqual(notes.keys().sort(), ["kept", "later"]);
  await replica.durable();
  acknowledge(it);
  await Promise.all([arriving, kept!.synced]);
  await rejects(bad!.synced, { code: "refused" });
});

Deno.test("a refusal tells what it was, survives a restart, and is retried, discarded and exported", async () => {
  const storage = memoryStorage();
  {
    await using it = await subject(storage);
    const notes = it.repo.collection(Note);
    for (const id of ["x", "y", "z"]) await notes.create({ id, text: id });
    const chain = [...it.replica.graph.chains()][0]!.name;
    it.replica.refuse(chain, [refusedAt(0), refusedAt(2)]);
    equal(it.sync.status.refusals.length, 2);
    equal(it.sync.status.refusals, it.sync.status.refusals);
  }
  await using it = await subject(storage);
  const notes = it.repo.collection(Note);
  deepEqual(notes.keys(), ["y"]);
  const [first, second] = it.sync.status.refusals;
  const { reason, rule, detail, kept, at, commit, operations } = first!;
  deepEqual([reason, rule, detail, kept], [
    "denied",
    "a note.create",
    "Not today",
    false,
  ]);
  ok(at instanceof Date && commit.endsWith(":0"));
  deepEqual(
    operations.map(({ collection, id, what }) => [collection, id, what]),
    [
      ["note", "x", "create"],
    ],
  );
  const exported = JSON.parse(JSON.stringify(first!.export()));
  equal(exported.operations[0].fields[0].change.value, "x");
  await first!.retry();
  deepEqual(notes.keys().sort(), ["x", "y"]);
  await second!.discard();
  deepEqual(it.sync.status.refusals, []);
  await rejects(second!.discard(), { code: "commit-missing" });
});

Deno.test("incidents of earlier connections are kept beside new ones", async () => {
  await using it = await subject();
  const { sync, channel } = it;
  const incident = (message: string) =>
    ({ kind: "desync", at: new Date(1), message, details: null }) as const;
  attach(it);
  channel.become({ incidents: [incident("one")] });
  sync.detach();
  const next = new FakeChannel();
  next.subscribe(() => sync.changed());
  sync.attach(next);
  next.become({ incidents: [incident("two")] });
  deepEqual(sync.status.incidents.map(({ message }) => message), [
    "one",
    "two",
  ]);
  equal(sync.status, sync.status);
});

Deno.test("a closed repository says so, and lets nobody wait", async () => {
  const it = await subject();
  const write = it.repo.collection(Note).create({ text: "x" });
  const waiting = write.synced;
  const heard: string[] = [];
  it.sync.subscribe(() => heard.push(it.sync.status.state));
  const closing = it.repo.close();
  await rejects(waiting, { code: "closed" });
  await closing;
  deepEqual(heard.at(-1), "closed");
  equal(it.sync.status.unsent.commits, 1);
  await rejects(write.synced, { code: "closed" });
  await it.db.close();
});
