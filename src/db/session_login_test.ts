import { deepEqual, equal, notDeepEqual, rejects } from "node:assert/strict";
import { createSigner, generateKeyPair, verify } from "../../crypto/mod.ts";
import {
  decodeCertificate,
  issueCertificate,
  type Session,
} from "../../repo/mod.ts";
import { ManualWorld, turns } from "../../tests/kit/replica_place.ts";
import { memoryStorage } from "../storage/memory_storage.ts";
import { openKeyring } from "./keyring.ts";
import type { Login } from "./login.ts";
import { Renewal, SessionLogin } from "./session_login.ts";

const world = new ManualWorld(3);
const root = generateKeyPair(world.random);
const hour = 3_600_000;
const never = new AbortController().signal;
const token = { token: "t" };

function certify(
  sessionKey: Uint8Array,
  fields: { user?: string; claims?: string; mayIssue?: boolean } = {},
  issuer = root.secretKey,
): Uint8Array {
  const { bytes } = issueCertificate({
    user: "ann",
    claims: "{}",
    mayIssue: false,
    ...fields,
    sessionKey,
    notBefore: 0,
    notAfter: world.now() + hour,
  }, createSigner(issuer));
  return bytes;
}

/** The keys of a new client folder, and what its repositories were told. */
async function openKeys(storage = memoryStorage()) {
  const { publicKey: rootKey } = root;
  const keyring = await openKeyring(storage, world, { user: "me", rootKey });
  const used: Session[] = [];
  keyring.onSession = (session) => used.push(session);
  return { keyring, logins: new SessionLogin(keyring, world), used, storage };
}

const logsIn: Login = ({ sessionKey }) =>
  Promise.resolve({ certificate: certify(sessionKey) });

Deno.test("a new device has a key, a name of its own choice, and nothing to prove", async () => {
  const { keyring, logins } = await openKeys();
  deepEqual([keyring.session.user, logins.isCurrent(), logins.isValid()], [
    "me",
    false,
    false,
  ]);
  equal(keyring.key.signer.publicKey.length, 32);
  equal(logins.prover(), undefined);
});

Deno.test("a login certifies the key that is there, in the folder and in open repositories", async () => {
  const { keyring, logins, used, storage } = await openKeys();
  const key = keyring.key.signer.publicKey;
  await logins.login(logsIn, token, never);
  deepEqual([keyring.session.user, keyring.key.signer.publicKey], ["ann", key]);
  equal(logins.isCurrent(), true);
  equal(used.length, 1);
  const prover = logins.prover()!;
  deepEqual(prover.publicKey, key);
  equal(prover.certificates.length, 1);
  const { keyring: again } = await openKeys(storage);
  deepEqual([again.session.user, again.key.signer.publicKey], ["ann", key]);
});

Deno.test("a certificate is renewed near its end, and valid until then", async () => {
  const { logins } = await openKeys();
  await logins.login(logsIn, token, never);
  world.time += hour * 0.79;
  equal(logins.isCurrent(), true);
  world.time += hour * 0.02;
  deepEqual([logins.isCurrent(), logins.isValid()], [false, true]);
  await logins.login(logsIn, token, never);
  equal(logins.isCurrent(), true);
  world.time += hour * 1.1;
  deepEqual([logins.isCurrent(), logins.isValid()], [false, false]);
});

Deno.test("other claims belong to a new key; what the old one signed keeps its certificate", async () => {
  for (const says of ["key-taken", "other claims"]) {
    const { keyring, logins, used, storage } = await openKeys();
    await logins.login(logsIn, token, never);
    const [key, { certificate }] = [keyring.key.signer.publicKey, used[0]!];
    const admin: Login = ({ sessionKey, certificate }) => {
      if (certificate !== undefined && says === "key-taken") {
        return Promise.resolve(says);
      }
      const given = certify(sessionKey, { claims: '{"role":"admin"}' });
      return Promise.resolve({ certificate: given });
    };
    await logins.login(admin, token, never);
    notDeepEqual(keyring.key.signer.publicKey, key);
    equal(keyring.certificate!.claims, '{"role":"admin"}');
    deepEqual(used.at(-1)!.others, [certificate]);
    const { keyring: again } = await openKeys(storage);
    deepEqual(again.key.signer.publicKey, keyring.key.signer.publicKey);
    deepEqual(again.session.others, [certificate]);
  }
});

Deno.test("a login proves the key that it asks for, also a new one", async () => {
  const { keyring, logins } = await openKeys();
  const asked: Uint8Array[] = [];
  const login: Login = async ({ sessionKey, rootKey, nowMs, sign }) => {
    const message = Uint8Array.of(1, asked.length);
    equal(verify(await sign(message), message, sessionKey), true);
    deepEqual([rootKey, nowMs], [root.publicKey, world.now()]);
    asked.push(sessionKey);
    return asked.length === 1
      ? "key-taken"
      : { certificate: certify(sessionKey) };
  };
  await logins.login(login, token, never);
  notDeepEqual(asked[0], asked[1]);
  deepEqual(keyring.key.signer.publicKey, asked[1]);
});

Deno.test("issuers below the root are shown, and without them a login is due", async () => {
  const server = generateKeyPair(world.random);
  const above = certify(server.publicKey, { user: "server", mayIssue: true });
  const answers = (issuers: Uint8Array[]): Login => ({ sessionKey }) =>
    Promise.resolve({
      certificate: certify(sessionKey, {}, server.secretKey),
      issuers,
    });
  const { logins, storage } = await openKeys();
  await logins.login(answers([]), token, never);
  deepEqual([logins.isCurrent(), logins.prover()], [false, undefined]);
  await logins.login(answers([above]), token, never);
  equal(logins.isCurrent(), true);
  const chain = logins.prover()!.certificates;
  deepEqual(chain.map((bytes) => decodeCertificate(bytes).user), [
    "ann",
    "server",
  ]);
  const { logins: again } = await openKeys(storage);
  deepEqual(again.prover()!.certificates, chain);
});

Deno.test("an answer that is no certificate of this key changes nothing", async () => {
  const { keyring, logins, used } = await openKeys();
  const other = generateKeyPair(world.random).publicKey;
  for (const certificate of [certify(other), new Uint8Array(9)]) {
    const login: Login = () => Promise.resolve({ certificate });
    await rejects(logins.login(login, token, never), { code: "login-failed" });
  }
  const forged: Login = ({ sessionKey }) => {
    const certificate = certify(sessionKey);
    certificate[certificate.length - 1]! ^= 1;
    return Promise.resolve({ certificate });
  };
  await rejects(logins.login(forged, token, never), { code: "login-failed" });
  const taken: Login = () => Promise.resolve("key-taken");
  await rejects(logins.login(taken, token, never), { code: "login-failed" });
  deepEqual([used, keyring.certificate], [[], undefined]);
});

Deno.test("a login that is no longer wanted changes nothing", async () => {
  const { keyring, logins, used } = await openKeys();
  const stop = new AbortController();
  const login: Login = (request, signal) => {
    stop.abort();
    return logsIn(request, signal);
  };
  await logins.login(login, token, stop.signal);
  deepEqual([used, keyring.certificate], [[], undefined]);
});

Deno.test("a connection has its certificate renewed in time, until it is closed", async () => {
  const { keyring } = await openKeys();
  const stop = new AbortController();
  let logins = 0;
  const login: Login = (request) => {
    logins++;
    return logsIn(request, never);
  };
  const renewal = new Renewal({
    keyring,
    world,
    source: token,
    login,
    isDue: true,
    stop: stop.signal,
  });
  const before = world.timers;
  await renewal.prover(false, never);
  await renewal.prover(false, never);
  equal(logins, 1, "what was due was had, and still holds");
  await renewal.prover(true, never);
  equal(logins, 2, "asked for");
  equal(world.timers, before + 1);
  world.advance(hour * 0.81);
  await turns(200);
  equal(logins, 3, "nobody asked: it was time");
  stop.abort();
  equal(world.timers, before);
});

Deno.test("a connection with nowhere to log in says so", async () => {
  const { keyring } = await openKeys();
  const options = { keyring, world, source: token, login: undefined };
  const renewal = new Renewal({ ...options, isDue: false, stop: never });
  await rejects(renewal.prover(false, never), { code: "login-failed" });
});
