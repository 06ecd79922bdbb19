import { deepEqual, equal, throws } from "node:assert/strict";
import { countReads } from "../../tests/kit/counted_reads.ts";
import { diskStorage } from "../storage/disk_storage.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import { type Keys, readKeys, replaceKeys, writeKeys } from "./keyring_file.ts";

const keys: Keys = {
  rootKey: new Uint8Array(32).fill(7),
  root: undefined,
  identity: "here",
  sessions: [],
};

Deno.test("readKeys() reads nothing of a file that is too large for keys", () => {
  const storage = memoryStorage();
  writeKeys(storage, keys).close();
  const reads = countReads(storage);
  const open = storage.open.bind(storage);
  storage.open = (...asked) => {
    const file = open(...asked)!;
    file.size = () => 64 * 1024 * 1024 + 1;
    return file;
  };
  throws(() => readKeys(storage), { name: "DatabaseError" });
  equal(reads.calls, 0);
});

Deno.test({
  name:
    "replaceKeys() leaves a file that only its owner reads, as writeKeys() does",
  ignore: Deno.build.os === "windows",
  async fn() {
    const path = await Deno.makeTempDir();
    try {
      const storage = diskStorage(path);
      writeKeys(storage, keys).close();
      equal(Deno.statSync(`${path}/database`).mode! & 0o777, 0o600);
      await replaceKeys(storage, { ...keys, identity: "there" });
      equal(Deno.statSync(`${path}/database`).mode! & 0o777, 0o600);
      deepEqual(readKeys(storage), { ...keys, identity: "there" });
    } finally {
      await Deno.remove(path, { recursive: true });
    }
  },
});
