import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { SignJWT } from "jose";
import { sha256 } from "../crypto/mod.ts";
import { encodeText } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import {
  canonicalJson,
  createLogin,
  parseCredentials,
  StaticTokens,
} from "./login.ts";
import { KeysUnavailable } from "./login_jwt.ts";
import {
  checkLoginOptions,
  type Credentials,
  type LoginOptions,
} from "./login_options.ts";

const KEY = "ab".repeat(32);
const SECRET = "a secret of at least thirty-two bytes";
const NOW = 1_800_000_000_000;
const world = { now: () => NOW };
const request = new Request("http://127.0.0.1/login");

async function ask(options: LoginOptions, credentials: Credentials) {
  return (await createLogin(options, world)).of(credentials, KEY, request);
}

async function isRefused(
  options: LoginOptions,
  credentials: Credentials,
  reason: RegExp,
): Promise<void> {
  const answer = await ask(options, credentials);
  match("refused" in answer ? answer.refused : "logged in", reason);
}

function tokenOf(
  claims: Record<string, unknown>,
  options: { key?: Uint8Array | KeyObject; alg?: string; expires?: number } =
    {},
): Promise<string> {
  const { key = encodeText(SECRET), alg = "HS256", expires = 60 } = options;
  return new SignJWT(claims).setProtectedHeader({ alg })
    .setExpirationTime(NOW / 1000 + expires).sign(key);
}

Deno.test("createLogin() gives every anonymous session key a user of its own", async () => {
  const options = { anonymous: { claims: { guest: true } } };
  deepEqual(await ask(options, { kind: "anonymous" }), {
    user: `anonymous-${KEY.slice(0, 16)}`,
    claims: { guest: true },
  });
});

Deno.test("createLogin() refuses a kind of login that is not offered", async () => {
  await isRefused({}, { kind: "anonymous" }, /no login of kind "anonymous"/);
  await isRefused({ anonymous: true }, { kind: "token", token: "x" }, /kind/);
  deepEqual((await createLogin({}, world)).kinds, []);
});

Deno.test("createLogin() knows static tokens as they are and as hashes", async () => {
  const hashed = `sha256:${sha256(encodeText("bob's token")).toHex()}`;
  const tokens = {
    "ann's token": { user: "ann", claims: { admin: true } },
    [hashed]: { user: "bob" },
  };
  deepEqual(await ask({ tokens }, { kind: "token", token: "ann's token" }), {
    user: "ann",
    claims: { admin: true },
  });
  deepEqual(await ask({ tokens }, { kind: "token", token: "bob's token" }), {
    user: "bob",
    claims: {},
  });
  await isRefused({ tokens }, { kind: "token", token: hashed }, /not known/);
  await isRefused({ tokens }, { kind: "token", token: "" }, /not known/);
});

Deno.test("createLogin() takes a JSON Web Token of the shared secret", async () => {
  const jwt = { secret: SECRET, claims: ["team"] };
  const token = await tokenOf({ sub: "ann", team: "a", other: 1 });
  deepEqual(await ask({ jwt }, { kind: "jwt", jwt: token }), {
    user: "ann",
    claims: { team: "a" },
  });
});

Deno.test("createLogin() refuses JSON Web Tokens that are expired, for others, by others or changed", async () => {
  const jwt = { secret: SECRET, issuer: "us", audience: "sheaf" };
  const good = { sub: "ann", iss: "us", aud: "sheaf" };
  const asJwt = (token: string): Credentials => ({ kind: "jwt", jwt: token });
  const fine = await tokenOf(good);
  equal("user" in await ask({ jwt }, asJwt(fine)), true);
  const expired = await tokenOf(good, { expires: -120 });
  await isRefused({ jwt }, asJwt(expired), /expired/);
  const elsewhere = await tokenOf({ ...good, aud: "other" });
  await isRefused({ jwt }, asJwt(elsewhere), /"aud"/);
  const stranger = await tokenOf({ ...good, iss: "them" });
  await isRefused({ jwt }, asJwt(stranger), /"iss"/);
  const other = encodeText("another secret of thirty-two bytes!!");
  const forged = await tokenOf(good, { key: other });
  await isRefused({ jwt }, asJwt(forged), /not valid/);
  const [head, , seal] = fine.split(".");
  const body = btoa(JSON.stringify({ ...good, sub: "root" })).replace(/=/g, "");
  await isRefused({ jwt }, asJwt(`${head}.${body}.${seal}`), /not valid/);
  const none = `${btoa('{"alg":"none"}').replace(/=/g, "")}.${body}.`;
  await isRefused({ jwt }, asJwt(none), /not valid/);
  const nobody = await tokenOf({ iss: "us", aud: "sheaf" });
  await isRefused({ jwt }, asJwt(nobody), /names no user/);
});

Deno.test("createLogin() takes public keys as PEM and as JWK, and never as a secret", async () => {
  const pairs = [
    ["ES256", generateKeyPairSync("ec", { namedCurve: "P-256" })],
    ["EdDSA", generateKeyPairSync("ed25519")],
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 })],
  ] as const;
  for (const [alg, { publicKey, privateKey }] of pairs) {
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const jwk = JSON.stringify(publicKey.export({ format: "jwk" }));
    const token = await tokenOf({ sub: "ann" }, { key: privateKey, alg });
    for (const key of [pem, jwk]) {
      const jwt = { publicKey: key };
      const answer = await ask({ jwt }, { kind: "jwt", jwt: token });
      deepEqual(answer, { user: "ann", claims: {} }, alg);
      const confused = await tokenOf({ sub: "root" }, { key: encodeText(pem) });
      await isRefused({ jwt }, { kind: "jwt", jwt: confused }, /not valid/);
    }
  }
});

Deno.test("createLogin() takes keys from where a provider publishes them", async () => {
  const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), alg: "ES256" };
  const provider = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    () => Response.json({ keys: [jwk] }),
  );
  const jwksUrl = `http://127.0.0.1:${provider.addr.port}/jwks`;
  const key = pair.privateKey;
  const jwt = await tokenOf({ sub: "ann" }, { key, alg: "ES256" });
  const login = await createLogin({ jwt: { jwksUrl } }, world);
  const answer = await login.of({ kind: "jwt", jwt }, KEY, request);
  deepEqual(answer, { user: "ann", claims: {} });
  await provider.shutdown();
  const late = await createLogin({ jwt: { jwksUrl } }, world);
  await rejects(late.of({ kind: "jwt", jwt }, KEY, request), KeysUnavailable);
});

Deno.test("createLogin() refuses keys that are too short, secret, several or none", async () => {
  const bad = [
    { secret: "short" },
    { publicKey: "nonsense" },
    { publicKey: '{"kty":"oct","k":"AAAA"}' },
    { jwksUrl: "file:///etc/passwd" },
    { secret: SECRET, jwksUrl: "https://example.org" },
    {},
  ];
  for (const jwt of bad) {
    await rejects(createLogin({ jwt }, world), { code: "invalid-option" });
  }
});

Deno.test("createLogin() asks an app's own function and checks its answer", async () => {
  const app: LoginOptions["app"] = (credentials) =>
    credentials === "open sesame"
      ? { user: "ali" }
      : { refused: "Say the words" };
  const shown = (app: string): Credentials => ({ kind: "app", app });
  deepEqual(await ask({ app }, shown("open sesame")), {
    user: "ali",
    claims: {},
  });
  await isRefused({ app }, shown("open barley"), /Say the words/);
  const large = () => ({ user: "a", claims: { x: "y".repeat(20_000) } });
  await isRefused({ app: large }, shown("x"), /too large/);
  await isRefused({ app: () => ({ user: "" }) }, shown("x"), /not allowed/);
});

Deno.test("parseCredentials() takes one known kind and nothing else", () => {
  deepEqual(parseCredentials({ anonymous: true }), { kind: "anonymous" });
  deepEqual(parseCredentials({ app: null }), { kind: "app", app: null });
  const garbage = [
    null,
    1,
    [],
    {},
    { anonymous: false },
    { token: 7 },
    { token: "" },
    { jwt: "x".repeat(100_000) },
    { token: "a", jwt: "b" },
    { password: "x" },
  ];
  for (const value of garbage) {
    throws(() => parseCredentials(value), SyntaxError);
  }
});

Deno.test("checkLoginOptions() refuses tokens that can be guessed", () => {
  const tokens = { abc: { user: "ann" } };
  throws(() => checkLoginOptions({ tokens }), { code: "invalid-option" });
});

Deno.test("canonicalJson() writes equal claims as equal texts", () => {
  equal(
    canonicalJson({ b: { d: 1, c: [2, { f: 3, e: 4 }] }, a: null }),
    '{"a":null,"b":{"c":[2,{"e":4,"f":3}],"d":1}}',
  );
});

Deno.test("StaticTokens takes so many tokens and no more", () => {
  const users = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, i) => [
        `sha256:${i.toString(16).padStart(64, "0")}`,
        { user: `user-${i}` },
      ]),
    );
  const most = limits.configEntriesMax;
  equal(new StaticTokens(users(most)).size, most);
  throws(() => new StaticTokens(users(most + 1)), {
    code: "invalid-option",
    message: new RegExp(`more than ${most} entries`),
  });
});
