import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
} from "node:assert/strict";
import { ManualWorld } from "../../tests/kit/replica_place.ts";
import { limits } from "../base/limits.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { type Keyring, openKeyring } from "./keyring.ts";

const world = new ManualWorld();

async function open(storage: Storage, user = "ada"): Promise<Keyring> {
  const keyring = await openKeyring(storage, world, { user });
  await keyring.settle();
  return keyring;
}

function bytesOf(storage: Storage): Uint8Array {
  const file = storage.open("database")!;
  const bytes = new Uint8Array(file.size());
  file.readAt(bytes, 0);
  return bytes;
}

Deno.test("openKeyring() makes keys once and finds them again", async () => {
  const storage = memoryStorage();
  const first = await open(storage);
  const bytes = bytesOf(storage);
  const second = await open(storage);
  deepEqual([first.isNew, second.isNew], [true, false]);
  deepEqual([first.isOriginal, second.isOriginal], [true, true]);
  deepEqual(second.session, first.session);
  deepEqual(second.rootKey, first.rootKey);
  deepEqual(bytesOf(storage), bytes, "opening writes nothing");
});

Deno.test("each user has a key of their own, which comes back with them", async () => {
  const storage = memoryStorage();
  const ada = await open(storage, "ada");
  const bob = await open(storage, "bob");
  notDeepEqual(bob.session.secretKey, ada.session.secretKey);
  deepEqual((await open(storage, "ada")).session, ada.session);
  deepEqual((await open(storage, "bob")).session, bob.session);
});

Deno.test("a copy gets sessions of its own, for every user, and keeps them", async () => {
  const storage = memoryStorage();
  const [ada, bob] = [await open(storage, "ada"), await open(storage, "bob")];
  const copy = memoryStorage([["database", bytesOf(storage)]]);
  const adaThere = await open(copy, "ada");
  equal(adaThere.isOriginal, false);
  deepEqual(adaThere.rootKey, ada.rootKey);
  notDeepEqual(adaThere.session.secretKey, ada.session.secretKey);
  const bobThere = await open(copy, "bob");
  notDeepEqual(bobThere.session.secretKey, bob.session.secretKey);
  const again = await open(copy, "ada");
  deepEqual([again.isOriginal, again.session], [true, adaThere.session]);
});

Deno.test("more users than a folder may hold are refused, and the folder stays whole", async () => {
  const storage = memoryStorage();
  for (let i = 0; i < limits.sessionsMax; i++) await open(storage, `user-${i}`);
  await rejects(open(storage, "one-more"), { code: "value-too-large" });
  ok(await open(storage, "user-7"));
});

Deno.test("every byte of the key file is guarded", async () => {
  const storage = memoryStorage();
  await open(storage);
  const bytes = bytesOf(storage);
  for (let i = 0; i < bytes.length; i++) {
    const spoiled = bytes.slice();
    spoiled[i]! ^= 1;
    const copy = memoryStorage([["database", spoiled]]);
    await rejects(
      open(copy),
      (error: Error & { code?: string }) =>
        error.code === "format-unknown" || error.code === "format-too-new",
    );
    deepEqual(bytesOf(copy), spoiled, "it is left as it is");
  }
});

Deno.test("a key file that is cut is damaged; one of zeros was never durable", async () => {
  const storage = memoryStorage();
  await open(storage);
  const bytes = bytesOf(storage);
  for (let length = 1; length < bytes.length; length++) {
    const cut = memoryStorage([["database", bytes.subarray(0, length)]]);
    await rejects(open(cut), { code: "format-unknown" });
  }
  for (const length of [0, 100]) {
    const empty = memoryStorage([["database", new Uint8Array(length)]]);
    equal((await open(empty)).isNew, true);
    equal((await open(empty)).isNew, false);
  }
});

Deno.test("another root key than the expected one is refused", async () => {
  const storage = memoryStorage();
  const { rootKey } = await open(storage);
  const other = rootKey.slice();
  other[0]! ^= 1;
  await openKeyring(storage, world, { user: "ada", rootKey });
  const wrong = openKeyring(storage, world, { user: "ada", rootKey: other });
  await rejects(wrong, { code: "root-key-mismatch" });
  const none = openKeyring(memoryStorage(), world, { user: "ada", rootKey });
  await rejects(none, { code: "root-key-mismatch" });
});
