import { equal } from "node:assert/strict";
import { parseRepositoryName } from "../repo/mod.ts";
import { defineSchema, field, openDatabase } from "../mod.ts";
import { system } from "../src/base/system.ts";
import { faultyStorage } from "../tests/kit/faulty_storage.ts";
import { Hub } from "./hub.ts";

const Task = defineSchema("task", { title: field.string() });

Deno.test("Hub.open() of a Fast repository shares what is in it at once", async () => {
  const slow = (finish: () => void) => void setTimeout(finish);
  const storage = faultyStorage({ slow });
  const open = () => openDatabase({ storage, schemas: [Task], mode: "fast" });
  {
    await using database = await open();
    const repository = await database.repository("a");
    await repository.collection(Task).create({ title: "Here" });
  }
  await using database = await open();
  const hub = new Hub({
    database,
    world: system,
    idleMs: 0,
    openMax: 1,
    isFull: () => false,
    repositoriesMax: 1,
    opened: () => Promise.resolve(() => {}),
    failed: (_name, error) => {
      throw error;
    },
    recovered: () => {},
  });
  const { port, release } = await hub.open(parseRepositoryName("a"));
  equal(port.commits, 1);
  release();
  await hub.close();
});
