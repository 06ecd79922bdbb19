import assert from "node:assert/strict";
import { openDatabase } from "../mod.ts";
import { system } from "../src/base/system.ts";
import type {
  Opened,
  TabMessage,
  WriteRecords,
} from "../src/browser/messages.ts";
import { Left } from "../src/browser/tab_left.ts";
import { TabRepository } from "../src/browser/tab_repository.ts";
import { memoryStorage } from "../src/storage/memory_storage.ts";
import { trips, until, within } from "./kit/patience.ts";
import { filesOf, restored } from "./kit/images.ts";
import { Origin } from "./kit/origin.ts";
import { Place, turns } from "./kit/replica_place.ts";
import { Card, schemas, ServedOrigin, titlesOf } from "./kit/tab_cards.ts";
import { Tab } from "./kit/tab_place.ts";

/** A tab's repository whose owner is the test. */
function played(
  openReplica: ConstructorParameters<typeof TabRepository>[0]["openReplica"],
) {
  const said: TabMessage[] = [];
  let calls = 0;
  const tab = new TabRepository({
    name: "board",
    folder: "repositories/board",
    world: system,
    link: {
      post: (message) => said.push(message),
      nextCall: () => ++calls,
      watch: () => {},
      call: () => Promise.resolve(true),
    },
    isHidden: () => false,
    isRich: false,
    openReplica,
    left: new Left(undefined, "played", "t1"),
    joined: () => {},
  });
  return { tab, said };
}

function openedAs(call: number, changes: Partial<Opened> = {}): Opened {
  const empty = { status: undefined, acknowledged: [], to: 0, others: [] };
  return {
    kind: "opened",
    call,
    repository: "board",
    image: [],
    at: { address: 0, crc: 0 },
    known: [],
    sync: { kind: "sync", repository: "board", ...empty },
    ...changes,
  };
}

Deno.test("a tab holds the chain that it is lent from the moment in which it hears of it", () => {
  const { tab } = played(() => new Promise(() => {}));
  tab.join();
  assert.equal(tab.chain, "");
  const chain = "c".repeat(40);
  tab.hear(openedAs(1, { chain }));
  // Its image is being opened: a next owner must hear of the chain all the same.
  assert.equal(tab.chain, chain);
});

Deno.test("a tab whose image died with its owner asks for another", async () => {
  const { tab, said } = played(() => new Promise(() => {}));
  const bytes = new Blob(["an image"]);
  bytes.arrayBuffer = () => Promise.reject(new Error("its page is gone"));
  tab.join();
  tab.hear(openedAs(1, { image: [{ name: "log-0", bytes }] }));
  await until(() => said.length === 2, "it asks again");
  assert.deepEqual(said.map(({ kind }) => kind), ["open", "open"]);
  assert.equal(tab.chain, "");
});

Deno.test("a tab calls durable what its owner has acknowledged, and nothing behind it", async () => {
  const owner = await Place.open({ lent: "new" });
  let place: Place | undefined;
  const { tab, said } = played(async (storage, lent) => {
    place = await Place.open({ storage, lent });
    return place.replica;
  });
  tab.join();
  const image = filesOf(owner.storage, owner.folder).map(([path, bytes]) => ({
    name: path.slice(owner.folder.length + 1),
    bytes,
  }));
  tab.hear(openedAs(1, { image }));
  await tab.opened;
  const durable: string[] = [];
  const write = async (id: string) => {
    void place!.write(id, "1").then(() => durable.push(id));
    place!.replica.flush(); // The queue would wait for the answer before.
    await turns();
  };
  await write("a");
  await write("b");
  const [first, second] = said.filter(({ kind }) => kind === "write")
    .map((message) => (message as WriteRecords).seq);
  assert.equal(second, first! + 1, "each was given to the owner by itself");
  assert.deepEqual(durable, []);
  const acknowledge = async (seq: number) => {
    tab.hear({ kind: "acknowledged", repository: "board", seq });
    await turns();
  };
  await acknowledge(first!);
  assert.deepEqual(durable, ["a"]);
  await acknowledge(second);
  assert.deepEqual(durable, ["a", "b"]);
});

Deno.test("what an eviction took comes back whole, also where the next owner dies before it has it all", async () => {
  const long = "x".repeat(90_000); // A few of these fill a message between tabs.
  for (let after = 2; after <= 26; after += 3) {
    using origin = new Origin();
    const first = new Tab(origin, { schemas });
    await first.repository();
    const second = new Tab(origin, { schemas });
    const repository = await second.repository();
    const expected: string[] = [];
    for (let i = 10; i < 22; i++) {
      const title = `${i} ${long}`;
      await repository.collection(Card).create({ title });
      expected.push(title);
    }
    first.page.killAfter(after);
    origin.evict();
    await Promise.race([
      first.page.life.death.promise,
      trips(50), // It may hear fewer messages than that.
    ]);
    first.kill();
    const third = new Tab(origin, { schemas });
    const later = await third.repository();
    await until(
      () => titlesOf(later).length === expected.length,
      `after message ${after}: ${titlesOf(later).length} came back`,
    );
    assert.deepEqual(titlesOf(later), expected);
    assert.deepEqual(titlesOf(repository), expected);
  }
});

Deno.test("a worker that finds no files goes on with the database that its page knows", async () => {
  using origin = new Origin();
  const first = new Tab(origin, { schemas });
  await first.repository();
  const second = new Tab(origin, { schemas });
  const repository = await second.repository();
  await repository.collection(Card).create({ title: "kept" });
  const { rootKey, sessionKey } = await second.opening;
  first.kill();
  origin.files = memoryStorage(); // Removed in the moment in which nobody looked.
  await repository.collection(Card).create({ title: "and later" });
  assert.deepEqual((await second.opening).rootKey, rootKey);
  assert.deepEqual((await second.opening).sessionKey, sessionKey);
  const files = () => restored(filesOf(origin.files));
  await using found = await openDatabase({ storage: files(), schemas });
  assert.deepEqual(found.rootKey, rootKey);
  const board = await found.repository("board");
  assert.deepEqual(titlesOf(board), ["and later", "kept"]);
  assert.equal((await board.verify()).damage, undefined);
});

Deno.test("a page that stood still in line, without a word, keeps nobody from the files for ever", async () => {
  using origin = new Origin();
  const first = new Tab(origin, { schemas });
  await first.repository();
  const next = new Tab(origin, { schemas });
  const frozen = await next.repository();
  const last = new Tab(origin, { schemas });
  const repository = await last.repository();
  next.page.life.freeze();
  first.kill(); // The lock goes to the worker that stands still.
  await repository.collection(Card).create({ title: "one" });
  next.page.life.thaw();
  await frozen.collection(Card).create({ title: "two" });
  await until(() => titlesOf(repository).length === 2, "both are there");
  assert.equal((await last.opening).tabs.status.role, "owner");
});

Deno.test("a refusal of what was written before all files went blocks nothing", async () => {
  const place = new ServedOrigin();
  const { server, origin } = place;
  const [first] = await place.tab();
  const [second, repository] = await place.tab();
  const cards = repository.collection(Card);
  place.connect(first);
  const connection = place.connect(second);
  await cards.create({ title: "before" }).synced;
  assert.equal(second.user, "ann", "who writes is told before it is synced");
  server.isDown = true;
  server.cut();
  const bad = cards.create({ title: "bad" });
  bad.synced.catch(() => {});
  await bad.durable;
  place.tabs[0]!.kill();
  origin.files = memoryStorage(); // Removed in the moment in which nobody looked.
  await cards.create({ title: "behind" }).durable;
  assert.equal(second.connection, connection);
  assert.equal(second.user, "ann", "the certificate came along");
  server.isDown = false;
  connection.retry();
  const { sync } = repository;
  await until(
    () => sync.status.unsent.commits === 0 && sync.status.state === "live",
    "the server has what was behind it",
  );
  assert.deepEqual(titlesOf(repository), ["before", "behind"]);
  assert.equal(sync.status.refusals.length, 1);
  await place.close();
});

Deno.test("a page that is closed in its sleep wakes, gives what it has, and goes", async () => {
  for (const mode of ["default", "fast"] as const) {
    using origin = new Origin();
    const first = new Tab(origin, { schemas, mode });
    await first.repository();
    const second = new Tab(origin, { schemas, mode });
    const repository = await second.repository();
    await repository.durable();
    second.page.life.freeze();
    repository.collection(Card).create({ title: "asleep" }).durable
      .catch(() => {});
    const closing = second.opening.then((database) => database.close());
    await (await first.opening).close();
    second.page.life.thaw();
    await closing;
    await second.page.life.death.promise;
    await using found = await openDatabase({
      storage: restored(filesOf(origin.files)),
      schemas,
    });
    assert.deepEqual(titlesOf(await found.repository("board")), ["asleep"]);
  }
});

Deno.test("a tab that closes while its owner dies and the files go is closed all the same", async () => {
  for (let after = 1; after <= 9; after++) {
    using origin = new Origin();
    const first = new Tab(origin, { schemas, mode: "fast" });
    await first.repository();
    const second = new Tab(origin, { schemas, mode: "fast" });
    const repository = await second.repository();
    repository.collection(Card).create({ title: "there" });
    first.page.killAfter(after);
    void first.page.life.death.promise.then(() => {
      origin.files = memoryStorage();
    });
    const database = await second.opening;
    await within(database.close(), `after message ${after} it is closed`);
    await assert.rejects(database.repository("another"), { code: "closed" });
  }
});
