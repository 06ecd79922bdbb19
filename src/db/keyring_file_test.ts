import { deepEqual, equal } from "node:assert/strict";
import { denoStorage } from "../storage/deno_storage.ts";
import { type Keys, readKeys, replaceKeys, writeKeys } from "./keyring_file.ts";

const keys: Keys = {
  rootKey: new Uint8Array(32).fill(7),
  root: undefined,
  identity: "here",
  sessions: [],
};

Deno.test({
  name:
    "replaceKeys() leaves a file that only its owner reads, as writeKeys() does",
  ignore: Deno.build.os === "windows",
  async fn() {
    const path = await Deno.makeTempDir();
    try {
      const storage = denoStorage(path);
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
