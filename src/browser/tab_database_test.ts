import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { REPOSITORIES } from "../../repo/replica_open.ts";
import { defineSchema, field } from "../../mod.ts";
import { Origin } from "../../tests/kit/origin.ts";
import { Tab } from "../../tests/kit/tab_place.ts";

const Card = defineSchema("card", { title: field.string() });
const schemas = [Card];

/** Names of all files of an origin that begin so. */
function namesOf({ files }: Origin, prefix: string): string[] {
  const within = (folder: string): string[] => [
    ...files.list(folder),
    ...files.folders(folder).flatMap((name) => within(`${folder}/${name}`)),
  ];
  return files.folders("").flatMap(within)
    .filter((name) => name.startsWith(prefix));
}

for (const mode of ["default", "fast"] as const) {
  Deno.test(`checkpoint() of a tab makes one where the files are, in ${mode} mode`, async () => {
    using origin = new Origin();
    await using owner = new Tab(origin, { schemas, mode });
    await owner.opening;
    await using tab = new Tab(origin, { schemas, mode });
    const repository = await tab.repository();
    void repository.collection(Card).create({ title: "in it" });
    deepEqual(namesOf(origin, "checkpoint"), []);
    await repository.checkpoint();
    equal(namesOf(origin, "checkpoint").length, 1);
  });
}

Deno.test("repository() of a tab that closes is refused at once, and opens nothing", async () => {
  using origin = new Origin();
  const tab = new Tab(origin, { schemas });
  const database = await tab.opening;
  await tab.repository("board");
  const closing = database.close();
  await rejects(database.repository("board"), { code: "closed" });
  await rejects(database.repository("another"), { code: "closed" });
  await closing;
  await rejects(database.repository("board"), { code: "closed" });
  equal(origin.files.folders(REPOSITORIES).length, 1, "the board alone");
});

Deno.test("repository() of a tab takes no options", async () => {
  using origin = new Origin();
  await using tab = new Tab(origin, { schemas });
  const database = await tab.opening;
  const given = ["board", { mode: "fast" }];
  throws(() => Reflect.apply(database.repository, database, given), {
    code: "invalid-option",
    message: "repository() takes neither options nor a list there",
  });
});

Deno.test("repository() of a tab that found no room is asked for anew", async () => {
  using origin = new Origin();
  await using tab = new Tab(origin, { schemas });
  const database = await tab.opening;
  origin.isFull = true;
  await rejects(database.repository("board"), { code: "storage-full" });
  origin.isFull = false;
  const board = await database.repository("board");
  await board.collection(Card).create({ title: "kept" }).durable;
  equal(await database.repository("board"), board);
});
