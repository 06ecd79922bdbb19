import assert from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import { lookForReplicas } from "./replica_list.ts";

Deno.test("lookForReplicas() looks into some folders at a time, and gives all of them back", async () => {
  const storage = memoryStorage();
  const names = Array.from({ length: 20 }, (_, i) => `r${i + 10}`);
  {
    await using database = await openDatabase({ storage });
    for (const name of names) {
      await (await database.repository(name)).durable();
    }
  }
  const prepared = new Set<string>();
  let most = 0;
  const found = await lookForReplicas({
    open: (name) => {
      assert.ok(prepared.has(name.slice(0, name.lastIndexOf("/"))), name);
      return storage.open(name);
    },
    folders: (folder) => storage.folders(folder),
    list: (folder) => storage.list(folder),
    makeFolder: (folder) => storage.makeFolder(folder),
    syncFolder: (folder) => storage.syncFolder(folder),
    rename: (from, to) => storage.rename(from, to),
    remove: (name) => storage.remove(name),
    lock: () => storage.lock(),
    identity: () => storage.identity(),
    usage: () => storage.usage(),
    async prepare(folder) {
      prepared.add(folder);
      most = Math.max(most, prepared.size);
      await new Promise((go) => setTimeout(go));
    },
    release: (folder) => void prepared.delete(folder),
  });
  assert.deepEqual(found.sort(), names);
  assert.equal(most, 8);
  assert.equal(prepared.size, 0);
});
