import assert from "node:assert/strict";
import { memoryStorage, openDatabase } from "../mod.ts";
import { Place } from "../tests/kit/replica_place.ts";
import { listReplicas, lookForReplicas } from "./replica_list.ts";

Deno.test("listReplicas() names a repository whose first record is damaged, as far as anything tells", async () => {
  const place = await Place.open();
  await place.write("a", "one");
  await place.replica.close();
  const file = place.file("log-00000000");
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  for (let bit = 64 * 8; bit < (64 + 9 + 40) * 8; bit++) {
    const spoilt = bytes.slice();
    spoilt[bit >> 3]! ^= 1 << (bit & 7);
    file.writeAt(spoilt, 0);
    assert.deepEqual(listReplicas(place.storage), ["place"], `bit ${bit}`);
  }
  file.writeAt(new Uint8Array(100).fill(7), 64);
  assert.deepEqual(listReplicas(place.storage), ["place"]);
  const mended = await place.reopen({ repair: true });
  await mended.replica.close();
  assert.deepEqual(listReplicas(place.storage), ["place"]);
});

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
