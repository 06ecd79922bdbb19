import { filesOf, restored, withFile } from "../../tests/kit/mod.ts";
import {
  deepEqual,
  equal,
  notDeepEqual,
  ok,
  rejects,
} from "node:assert/strict";
import {
  createSigner,
  generateKeyPair,
  isWebKey,
  verify,
} from "../../crypto/mod.ts";
import { lateEd25519 } from "../../crypto/late_ed25519.ts";
import {
  decodeCertificate,
  issueCertificate,
  type Session,
} from "../../repo/mod.ts";
import { ManualWorld } from "../../tests/kit/replica_place.ts";
import { faultyStorage } from "../../tests/kit/faulty_storage.ts";
import { Vault } from "../../tests/kit/vault.ts";
import { encodeText, toHex } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import { limits } from "../base/limits.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import type { Storage } from "../storage/storage.ts";
import { type Keyring, type KeyringOptions, openKeyring } from "./keyring.ts";
import { readKeys, replaceKeys } from "./keyring_file.ts";
import type { KeyVault } from "../storage/key_vault.ts";
import { newKey, signerOf } from "./session_key.ts";

const world = new ManualWorld();

/** What tells sessions apart: a key shows as its public half. */
function shown({ session: { signer, ...rest } }: Pick<Keyring, "session">) {
  return { ...rest, key: signer.publicKey };
}

async function open(storage: Storage, user = "ada"): Promise<Keyring> {
  const keyring = await openKeyring(storage, world, { user });
  await keyring.settle();
  return keyring;
}

function bytesOf(storage: Storage, name = "database"): Uint8Array {
  const file = storage.open(name)!;
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
  deepEqual(shown(second), shown(first));
  deepEqual(second.rootKey, first.rootKey);
  deepEqual(bytesOf(storage), bytes, "opening writes nothing");
});

Deno.test("each user has a key of their own, which comes back with them", async () => {
  const storage = memoryStorage();
  const ada = await open(storage, "ada");
  const bob = await open(storage, "bob");
  notDeepEqual(bob.session.signer.publicKey, ada.session.signer.publicKey);
  deepEqual(shown(await open(storage, "ada")), shown(ada));
  deepEqual(shown(await open(storage, "bob")), shown(bob));
});

Deno.test("a copy gets sessions of its own, for every user, and keeps them", async () => {
  const storage = memoryStorage();
  const [ada, bob] = [await open(storage, "ada"), await open(storage, "bob")];
  const copy = memoryStorage([["database", bytesOf(storage)]]);
  const adaThere = await open(copy, "ada");
  equal(adaThere.isOriginal, false);
  deepEqual(adaThere.rootKey, ada.rootKey);
  notDeepEqual(adaThere.session.signer.publicKey, ada.session.signer.publicKey);
  const bobThere = await open(copy, "bob");
  notDeepEqual(bobThere.session.signer.publicKey, bob.session.signer.publicKey);
  const again = await open(copy, "ada");
  deepEqual([again.isOriginal, shown(again)], [true, shown(adaThere)]);
});

Deno.test("more users than a folder may hold are refused, and the folder stays whole", async () => {
  const storage = memoryStorage();
  await open(storage, "first");
  const keys = readKeys(storage)!;
  const [session] = keys.sessions;
  const others = Array.from(
    { length: limits.sessionsMax - 2 },
    (_, i) => ({ ...session!, user: `user-${i}` }),
  );
  await replaceKeys(storage, { ...keys, sessions: [session!, ...others] });
  const last = await open(storage, "last");
  await rejects(open(storage, "one-more"), { code: "value-too-large" });
  equal(readKeys(storage)!.sessions.length, limits.sessionsMax);
  deepEqual(shown(await open(storage, "last")), shown(last));
  ok(await open(storage, "first"));
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

Deno.test("openKeyring() takes the copy whatever is wrong with the key file, and keeps what was there", async () => {
  const storage = restored([]);
  const first = await open(storage);
  const files = filesOf(storage);
  const bytes = bytesOf(storage);
  const rotten = [...bytes.keys()].flatMap((at) =>
    [1 << at % 8, 0xff].map((mask) =>
      bytes.map((byte, i) => i === at ? byte ^ mask : byte)
    )
  );
  for (const spoiled of [...rotten, bytes.subarray(9), new Uint8Array(300)]) {
    const there = restored(withFile(files, "database", spoiled));
    const mended = await open(there);
    equal(mended.isMended, true);
    deepEqual(shown(mended), shown(first));
    deepEqual(bytesOf(there), bytes);
    const aside = filesOf(there).find(([name]) => name.startsWith("quar"))!;
    deepEqual(aside, ["quarantine-database", spoiled]);
    equal((await open(there)).isMended, false);
  }
  const gone = restored(files.filter(([name]) => name !== "database"));
  deepEqual(shown(await open(gone)), shown(first));
});

Deno.test("a copy of the keys that is damaged or of another database is no error, and that of another stays", async () => {
  const storage = restored([]);
  const first = await open(storage);
  const files = filesOf(storage);
  const copy = bytesOf(storage, "database.copy");
  deepEqual(copy, bytesOf(storage));
  const spoiled = withFile(files, "database.copy", copy.subarray(1));
  const there = restored(spoiled);
  deepEqual(shown(await open(there)), shown(first));
  deepEqual(filesOf(there), files);
  const other = restored([]);
  await open(other);
  const others = bytesOf(other);
  const mixed = restored(withFile(files, "database.copy", others));
  deepEqual(shown(await open(mixed)), shown(first));
  deepEqual(bytesOf(mixed, "database.copy"), others);
});

Deno.test("a session's new key stands in the copy, too", async () => {
  const storage = restored([]);
  const keyring = await openClient(storage);
  const key = await keyring.newKey();
  await keyring.store({ key, certificate: certify(key) });
  deepEqual(bytesOf(storage, "database.copy"), bytesOf(storage));
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
  { signer: { publicKey } }: Pick<Session, "signer">,
  fields: { user?: string; claims?: string } = {},
): Uint8Array {
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
  const first = await openClient(storage);
  const { session, rootKey, rootSecret } = first;
  deepEqual(rootKey, root.publicKey);
  equal(rootSecret, undefined);
  equal(session.certificate, undefined);
  equal(session.user, "ada");
  const again = await openClient(storage);
  deepEqual([again.isNew, again.isOriginal], [false, true]);
  deepEqual(shown(again), shown(first), "the same key goes on");
  const bob = await openClient(storage, "bob");
  notDeepEqual(bob.session.signer.publicKey, session.signer.publicKey);
});

Deno.test("store() keeps a certificate, and a later opening has it", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const { key } = keyring;
  const certificate = certify(key);
  const stored = shown({ session: await keyring.store({ key, certificate }) });
  deepEqual(stored, {
    user: "ada@example.org",
    key: key.signer.publicKey,
    certificate,
    others: [],
  });
  deepEqual(shown(keyring), stored);
  deepEqual(shown(await openClient(storage, "ada")), stored);
});

Deno.test("store() takes another key with its certificate, and what belongs to them", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const { key } = keyring;
  const first = await keyring.store({ key, certificate: certify(key) });
  const next = await newKey(world, undefined);
  const certificate = certify(next, { claims: '{"role":"admin"}' });
  const others = [first.certificate!];
  const second = await keyring.store({ key: next, certificate, others });
  deepEqual(second.others, others);
  deepEqual(second.signer.publicKey, next.signer.publicKey);
  deepEqual(shown(await openClient(storage)), shown({ session: second }));
});

Deno.test("store() refuses a certificate of another key", async () => {
  const keyring = await openClient(memoryStorage());
  const key = await newKey(world, undefined);
  const before = shown(keyring);
  const certificate = certify(keyring.key);
  await rejects(keyring.store({ key, certificate }), {
    code: "invalid-option",
  });
  deepEqual(shown(keyring), before);
});

Deno.test("a copy of a client's folder gets a key of its own, not certified", async () => {
  const storage = memoryStorage();
  const keyring = await openClient(storage);
  const { key } = keyring;
  await keyring.store({ key, certificate: certify(key) });
  const copy = memoryStorage([["database", bytesOf(storage)]]);
  const { session, isOriginal } = await openClient(copy);
  equal(isOriginal, false);
  equal(session.certificate, undefined);
  notDeepEqual(session.signer.publicKey, key.signer.publicKey);
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
  const { key } = await openClient(storage);
  const options = { user: "ada", rootSecret: root.secretKey };
  const now = await openKeyring(storage, world, options);
  deepEqual(now.key.secret, key.secret);
  const { sessionKey } = decodeCertificate(now.session.certificate!);
  deepEqual(sessionKey, key.signer.publicKey);
  deepEqual(shown(await open(storage)), shown(now));
});

Deno.test("keys whose sync failed are written anew when somebody needs them again", async () => {
  const storage = faultyStorage();
  const made = await openKeyring(storage, world, { user: "ada" });
  storage.failNextSync();
  await rejects(made.settle(), { code: "storage-failed" });
  storage.loseUnsynced();
  await made.settle();
  deepEqual(shown(await open(storage.afterPowerCut("synced"))), shown(made));

  const found = await openKeyring(storage, world, { user: "ada" });
  storage.failNextSync();
  await rejects(found.settle(), { code: "storage-failed" });
  const { key, session: { certificate } } = found;
  await found.store({ key, certificate });
  deepEqual(shown(await open(storage.afterPowerCut("synced"))), shown(found));
});

Deno.test("a session may issue where that is asked for, and is made anew where it could not", async () => {
  const storage = memoryStorage();
  const plain = await open(storage, "server");
  equal(decodeCertificate(plain.session.certificate!).mayIssue, false);
  const options = { user: "server", mayIssue: true };
  const second = await openKeyring(storage, world, options);
  const { session } = second;
  equal(decodeCertificate(session.certificate!).mayIssue, true);
  notDeepEqual(session.signer.publicKey, plain.session.signer.publicKey);
  deepEqual(session.others, [plain.session.certificate]);
  const third = await openKeyring(storage, world, options);
  deepEqual(shown(third), shown(second));
});

Deno.test("a key file of another format is named, and left as it is", async () => {
  for (
    const [format, code] of [[2, "format-too-old"], [
      4,
      "format-too-new",
    ]] as const
  ) {
    const storage = memoryStorage();
    await open(storage);
    const bytes = bytesOf(storage);
    bytes[8] = format;
    const sum = crc32(bytes.subarray(0, -4));
    new DataView(bytes.buffer).setUint32(bytes.length - 4, sum, true);
    const file = storage.open("database")!;
    file.writeAt(bytes, 0);
    await rejects(open(storage), { code });
    deepEqual(bytesOf(storage), bytes);
  }
});

/** A folder whose keys are in a vault. */
async function openVaulted(
  storage: Storage,
  vault: KeyVault,
  options: Partial<KeyringOptions> = {},
): Promise<Keyring> {
  const all = { user: "ada", ...options, vault };
  const keyring = await openKeyring(storage, world, all);
  await keyring.settle();
  return keyring;
}

async function signs({ key: { signer } }: Keyring): Promise<boolean> {
  const message = encodeText("message");
  return verify(await signer.sign(message), message, signer.publicKey);
}

Deno.test("with a vault no secret is in the file, and the keys sign after another opening", async () => {
  const storage = memoryStorage();
  const vault = new Vault();
  const first = await openVaulted(storage, vault);
  equal(first.rootSecret, undefined);
  equal(vault.keys.size, 2, "root and session");
  const second = await openVaulted(storage, vault);
  for (const keyring of [first, second]) {
    equal(await signs(keyring), true);
    ok(isWebKey(keyring.key.secret));
    equal(keyring.key.signer.sign(new Uint8Array()) instanceof Promise, true);
  }
  deepEqual(shown(second), shown(first));
  const { issuerKey } = decodeCertificate(second.session.certificate!);
  deepEqual(issuerKey, second.rootKey);
  const bob = await openVaulted(storage, vault, { user: "bob" });
  const { issuerKey: ofBob, user } = decodeCertificate(
    bob.session.certificate!,
  );
  deepEqual([ofBob, user], [bob.rootKey, "bob"], "the root signs on");
});

Deno.test("a vault that lost its keys costs a new key, and what the old one was is kept", async () => {
  const storage = memoryStorage();
  const vault = new Vault();
  const first = await openVaulted(storage, vault);
  vault.keys.clear();
  const second = await openVaulted(storage, vault);
  deepEqual([first.isKeyLost, second.isKeyLost], [false, true]);
  notDeepEqual(second.key.signer.publicKey, first.key.signer.publicKey);
  equal(await signs(second), true);
  deepEqual(second.rootKey, first.rootKey);
  equal(second.session.certificate, undefined, "the root is lost, too");
  deepEqual(second.session.others, [first.session.certificate]);
  deepEqual(second.lost, [], "it was certified");
  const third = await openVaulted(storage, vault);
  deepEqual([third.isKeyLost, shown(third)], [false, shown(second)]);
});

Deno.test("a key that was lost before anybody certified it is not forgotten", async () => {
  const storage = memoryStorage();
  const vault = new Vault();
  const options = { rootKey: root.publicKey };
  const lost: Uint8Array[] = [];
  for (let i = 0; i < 3; i++) {
    const keyring = await openVaulted(storage, vault, options);
    deepEqual(keyring.lost, lost);
    lost.push(keyring.key.signer.publicKey);
    vault.keys.clear();
  }
  const keyring = await openVaulted(storage, vault, options);
  const { key } = keyring;
  await keyring.store({ key, certificate: certify(key) });
  deepEqual((await openVaulted(storage, vault, options)).lost, lost);
});

Deno.test("a key that another one takes the place of leaves the vault, when the file says so", async () => {
  const storage = memoryStorage();
  const vault = new Vault();
  const keyring = await openVaulted(storage, vault, {
    rootKey: root.publicKey,
  });
  const next = await keyring.newKey();
  equal(vault.keys.size, 2);
  await keyring.store({ key: next, certificate: certify(next) });
  deepEqual([...vault.keys.keys()], [toHex(next.signer.publicKey)]);
  equal(await signs(keyring), true);
});

Deno.test("a vault that keeps nothing, or fails, leaves a secret in the file", async () => {
  const fails = () => Promise.reject(new Error("No room"));
  for (
    const vault of [
      { put: fails, get: fails, remove: fails },
      {
        ...new Vault(),
        put: () => Promise.resolve(),
        get: () => Promise.resolve(),
        remove: fails,
      },
    ]
  ) {
    const storage = memoryStorage();
    const first = await openVaulted(storage, vault);
    equal(first.rootSecret?.length, 32);
    deepEqual(shown(await open(storage)), shown(first));
  }
});

Deno.test("an empty folder goes on with the session that lost its files, unless it has the root's secret", async () => {
  const vault = new Vault();
  const options = { rootKey: root.publicKey };
  const first = await openVaulted(memoryStorage(), vault, options);
  const certificate = certify(first.key);
  await first.store({ key: first.key, certificate });
  vault.keys.clear();
  const { key, session: { others } } = first;
  const lostSession = { key, certificate, others };
  const storage = memoryStorage();
  const second = await openVaulted(storage, vault, { ...options, lostSession });
  deepEqual(shown(second), shown(first));
  await second.settle();
  const third = await openVaulted(storage, vault, options);
  deepEqual(shown(third), shown(first));
  equal(await signs(third), true);
  const own = await openVaulted(memoryStorage(), vault, { lostSession });
  notDeepEqual(shown(own), shown(first));
  const foreign = { ...lostSession, key: own.key };
  await rejects(
    openVaulted(memoryStorage(), vault, { ...options, lostSession: foreign }),
    { code: "invalid-option" },
  );
});

Deno.test("copyTo() has the vault keep its keys again", async () => {
  const vault = new Vault();
  const keyring = await openVaulted(memoryStorage(), vault);
  vault.keys.clear();
  const other = memoryStorage();
  await keyring.copyTo(other);
  const copy = await openVaulted(other, vault);
  deepEqual(shown(copy), shown(keyring));
  equal(copy.isKeyLost, false);
});

Deno.test("signerOf() signs with a seed once its code is here", async () => {
  const { publicKey, secretKey } = generateKeyPair(world.random);
  const message = encodeText("message");
  const ed25519 = lateEd25519.code;
  lateEd25519.provide(undefined);
  try {
    const { sign } = signerOf(secretKey, publicKey);
    equal(verify(await sign(message), message, publicKey), true);
  } finally {
    lateEd25519.provide(ed25519);
  }
});
