import { deepEqual, equal } from "node:assert/strict";
import { bytesOfFile, FOLDER } from "../../tests/kit/log.ts";
import { memoryStorage } from "../../src/storage/memory_storage.ts";
import { Quarantine } from "./quarantine.ts";

Deno.test("Quarantine.addFile() copies what is there of a file that is shorter than it was", async () => {
  const storage = memoryStorage();
  storage.makeFolder(FOLDER);
  const file = storage.open(`${FOLDER}/torn`, { create: true })!;
  file.writeAt(new Uint8Array([1, 2, 3]), 0);
  const readAt = file.readAt.bind(file);
  let reads = 0;
  file.readAt = (target, offset) => {
    equal(++reads > 3, false, "it reads on where nothing is");
    return readAt(target, offset);
  };
  const quarantine = new Quarantine(storage, FOLDER, 0);
  quarantine.addFile(file, 100);
  await quarantine.finish();
  file.close();
  const copy = bytesOfFile(storage, `${FOLDER}/${quarantine.name}`);
  deepEqual([...copy], [1, 2, 3]);
});
