import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
} from "node:assert/strict";
import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import {
  decodeCertificate,
  issueCertificate,
  type Session,
} from "../../repo/mod.ts";
import { ManualWorld } from "../../tests/kit/replica_place.ts";
import { ByteWriter, encodeText } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
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
  const rootSecret = new Uint8Array(32).fill(7);
  const alien = openKeyring(storage, world, { user: "ada", rootSecret });
  await rejects(alien, { code: "root-key-mismatch" });
  const torn = { user: "ada", rootKey, rootSecret };
  const none = openKeyring(memoryStorage(), world, torn);
  await rejects(none, { code: "root-key-mismatch" });
  const short = { user: "ada", rootKey: rootKey.subarray(1) };
  await rejects(openKeyring(memoryStorage(), world, short), {
    code: "invalid-option",
  });
});

const root = generateKeyPair((target) => world.random(target));

function certify(
  { secretKey }: Session,
  fields: { user?: string; claims?: string } = {},
): Uint8Array {
  const { publicKey } = createSigner(secretKey);
  const { user = "ada@example.org", claims = "{}" } = fields;
  return issueCertificate({
    sessionKey: publicKey,
    mayIssue: false,
    notBefore: 0,
    notAfter: 2_000_000_000_000,
    user,
    claims,
  }, createSigner(root.secretKey)).bytes;
}

/** A folder that knows nothing of its root but the public key. */
async function openClient(storage: Storage, user = "ada"): Promise<Keyring> {
  const options = { user, rootKey: root.publicKey };
  const keyring = await openKeyring(storage, world, options);
  await keyring.settle();
  return keyring;
}

Deno.test("an empty folder with a given root key has a session that nobody certified yet", async () => {
  const storage = memoryStorage();
  const { session, rootKey, rootSecret } = await openClient(storage);
  deepEqual(rootKey, root.publicKey);
  equal(rootSecret, undefined);
  equal(session.certificate, undefined);
  equal(session.user, "ada");
  const again = await openClient(storage);
  deepEqual([again.isNew, again.isOriginal], [false, true]);
  deepEqual(again.session, session, "the same key goes on");
  const bob = await openClient(storage, "bob");
  notDeepEqual(bob.session.secretKey, session.secretKey);
});

Deno.test("store() keeps a certificate, and a later opening has it", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const { secretKey } = keyring.session;
  const certificate = certify(keyring.session);
  const stored = await keyring.store({ secretKey, certificate });
  deepEqual(stored, {
    user: "ada@example.org",
    secretKey,
    certificate,
    others: [],
  });
  deepEqual(keyring.session, stored);
  deepEqual((await openClient(storage, "ada")).session, stored);
});

Deno.test("store() takes another key with its certificate, and what belongs to them", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const first = await keyring.store({
    ...keyring.session,
    certificate: certify(keyring.session),
  });
  const pair = generateKeyPair((target) => world.random(target));
  const session = { user: "", secretKey: pair.secretKey };
  const certificate = certify(session, { claims: '{"role":"admin"}' });
  const others = [first.certificate!];
  const second = await keyring.store({ ...session, certificate, others });
  deepEqual(second.others, others);
  deepEqual((await openClient(storage)).session, second);
});

Deno.test("store() refuses a certificate of another key", async () => {
  const keyring = await openClient(memoryStorage());
  const { secretKey } = generateKeyPair((target) => world.random(target));
  const before = keyring.session;
  const certificate = certify(before);
  await rejects(keyring.store({ secretKey, certificate }), {
    code: "invalid-option",
  });
  deepEqual(keyring.session, before);
});

Deno.test("a copy of a client's folder gets a key of its own, not certified", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const { secretKey } = keyring.session;
  await keyring.store({ secretKey, certificate: certify(keyring.session) });
  const copy = memoryStorage([["database", bytesOf(storage)]]);
  const { session, isOriginal } = await openClient(copy);
  equal(isOriginal, false);
  equal(session.certificate, undefined);
  notDeepEqual(session.secretKey, secretKey);
});

Deno.test("a given root secret gives a new folder its root key again", async () => {
  const rootSecret = root.secretKey;
  const storage = memoryStorage();
  const keyring = await openKeyring(storage, world, {
    user: "ada",
    rootSecret,
  });
  await keyring.settle();
  deepEqual(keyring.rootKey, root.publicKey);
  deepEqual(keyring.rootSecret, rootSecret);
  const { issuerKey } = decodeCertificate(keyring.session.certificate!);
  deepEqual(issuerKey, root.publicKey);
  deepEqual((await open(storage)).rootSecret, rootSecret, "it is kept");
});

Deno.test("a client's folder that is given the root secret certifies the key it has", async () => {
  const storage = memoryStorage();
  const { session } = await openClient(storage);
  const options = { user: "ada", rootSecret: root.secretKey };
  const now = (await openKeyring(storage, world, options)).session;
  deepEqual(now.secretKey, session.secretKey);
  const { sessionKey } = decodeCertificate(now.certificate!);
  deepEqual(sessionKey, createSigner(session.secretKey).publicKey);
  deepEqual((await open(storage)).session, now);
});

Deno.test("a session may issue where that is asked for, and is made anew where it could not", async () => {
  const storage = memoryStorage();
  const plain = await open(storage, "server");
  equal(decodeCertificate(plain.session.certificate!).mayIssue, false);
  const options = { user: "server", mayIssue: true };
  const { session } = await openKeyring(storage, world, options);
  equal(decodeCertificate(session.certificate!).mayIssue, true);
  notDeepEqual(session.secretKey, plain.session.secretKey);
  deepEqual(session.others, [plain.session.certificate]);
  deepEqual((await openKeyring(storage, world, options)).session, session);
});

Deno.test("a key file of format 1 is read, and written as format 2 with the next change", async () => {
  const storage = memoryStorage();
  const { session, rootKey, rootSecret } = await open(storage);
  const writer = new ByteWriter();
  writer.bytes(encodeText("SHEAFKEY"));
  writer.u16(1);
  writer.bytes(rootKey);
  writer.u8(1);
  writer.bytes(rootSecret!);
  writer.text(storage.identity());
  writer.varint(1);
  writer.text("ada");
  writer.bytes(session.secretKey);
  writer.varint(session.certificate!.length);
  writer.bytes(session.certificate!);
  writer.u32(crc32(writer.view()));
  const file = storage.open("database")!;
  file.truncate(0);
  file.writeAt(writer.copy(), 0);
  deepEqual((await open(storage)).session, session);
  deepEqual(bytesOf(storage), writer.copy(), "opening writes nothing");
  await open(storage, "bob");
  equal(bytesOf(storage)[8], 2);
  deepEqual((await open(storage)).session, session);
});
