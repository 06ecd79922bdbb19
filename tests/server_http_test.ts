/** A real server, asked over plain HTTP: logins, origins, health, metrics, admin, configuration. */

import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { SignJWT } from "jose";
import { decodeCertificate } from "../repo/mod.ts";
import { defineRules, memoryStorage, serverInfo } from "../mod.ts";
import { createServer } from "../server/mod.ts";
import {
  ADMIN,
  ANN,
  asAdmin,
  BOB,
  type HandLogin,
  loginBody,
  newSessionKey,
  type Place,
  post,
  serverOptions,
  withServer,
} from "./server_place.ts";

async function login(
  { ask, server }: Place,
  body: HandLogin | string,
): Promise<{ status: number; answer: Record<string, string> }> {
  const text = typeof body === "string"
    ? body
    : loginBody(server.rootKey, body);
  const response = await ask("/login", post(text));
  return { status: response.status, answer: await response.json() };
}

Deno.test("server: tells who it is, and nothing secret", () =>
  withServer({ name: "garden" }, async ({ server, ask }) => {
    const info = await serverInfo(server.url);
    equal(info.name, "garden");
    equal(info.rootKey, server.rootKey.toHex());
    deepEqual(info.login, ["anonymous", "token"]);
    const text = await (await ask("/sheaf")).text();
    for (const secret of [ANN, BOB, ADMIN]) equal(text.includes(secret), false);
  }));

Deno.test("server: certifies a session key for the user of a token, again and again", () =>
  withServer({ sessionDays: 2 }, async (place) => {
    const sessionKey = newSessionKey();
    const credentials = { token: ANN };
    const before = Date.now();
    const first = await login(place, { sessionKey, credentials });
    equal(first.status, 200);
    const certificate = decodeCertificate(
      Uint8Array.fromHex(first.answer["certificate"]!),
    );
    equal(certificate.user, "ann");
    equal(certificate.claims, "{}");
    equal(certificate.mayIssue, false);
    equal(certificate.notBefore, 0);
    ok(certificate.notAfter >= before + 2 * 86_400_000);
    ok(certificate.notAfter <= Date.now() + 2 * 86_400_000);
    deepEqual(certificate.issuerKey, place.server.rootKey);
    const again = await login(place, {
      sessionKey,
      credentials,
      certificate: first.answer["certificate"],
    });
    equal(again.status, 200);
  }));

Deno.test("server: never certifies one key for two users", () =>
  withServer({}, async (place) => {
    const sessionKey = newSessionKey();
    await login(place, { sessionKey, credentials: { token: ANN } });
    const other = await login(place, {
      sessionKey,
      credentials: { token: BOB },
    });
    equal(other.status, 409);
    equal(other.answer["code"], "key-taken");
  }));

Deno.test("server: certifies a key only for its owner, who asks now and with these credentials", () =>
  withServer({}, async (place) => {
    const [sessionKey, other] = [newSessionKey(), newSessionKey()];
    const asked = { sessionKey, credentials: { token: BOB } };
    const forged: HandLogin[] = [
      { ...asked, signedBy: other },
      { ...asked, signs: { credentials: JSON.stringify({ token: ANN }) } },
      { ...asked, signs: { credentials: '{ "token": "the token of bob" }' } },
      { ...asked, signs: { rootKey: new Uint8Array(32) } },
      { ...asked, signs: { sessionKey: Uint8Array.fromHex(other) } },
      { ...asked, signs: { atMs: Date.now() - 60_000 } },
    ];
    for (const one of forged) {
      const { status, answer } = await login(place, one);
      deepEqual([status, answer["code"]], [401, "bad-proof"]);
    }
    const flipped = loginBody(place.server.rootKey, asked);
    flipped["proof"] = String(flipped["proof"]).replace(/./, (digit) => {
      return digit === "0" ? "1" : "0";
    });
    equal((await login(place, JSON.stringify(flipped))).status, 401);
    // Nothing of it was remembered for the key.
    const own = { sessionKey, credentials: { token: ANN } };
    equal((await login(place, own)).answer["user"], "ann");
  }));

Deno.test("server: a login that was signed long ago, or in future, is asked for again with the server's time", () =>
  withServer({}, async (place) => {
    const sessionKey = newSessionKey();
    for (const minutes of [-11, 11]) {
      const at = Date.now() + minutes * 60_000;
      const { status, answer } = await login(place, { sessionKey, at });
      deepEqual([status, answer["code"]], [400, "bad-clock"]);
      ok(Math.abs(Number(answer["now"]) - Date.now()) < 60_000);
    }
    const metrics = await (await place.ask("/metrics")).text();
    match(
      metrics,
      /sheaf_logins_total\{kind="anonymous",result="bad-clock"\} 2/,
    );
    for (const minutes of [-9, 9]) {
      const at = Date.now() + minutes * 60_000;
      equal((await login(place, { sessionKey, at })).status, 200);
    }
  }));

Deno.test("server: a lost book does not let a key change its user", async () => {
  const key = newSessionKey();
  let certificate = "";
  const rootSecret = new Uint8Array(32).fill(7);
  await withServer({ rootSecret }, async (place) => {
    const { answer } = await login(place, {
      sessionKey: key,
      credentials: { token: ANN },
    });
    certificate = answer["certificate"]!;
  });
  await withServer({ rootSecret }, async (place) => {
    const asked = { sessionKey: key, certificate };
    const other = await login(place, { ...asked, credentials: { token: BOB } });
    equal(other.status, 409);
    const same = await login(place, { ...asked, credentials: { token: ANN } });
    equal(same.status, 200);
  });
});

Deno.test("server: refuses logins that are wrong, malformed, oversize or too many, and logs no secret", () =>
  withServer({ quotas: { loginsPerMinute: 30 } }, async (place) => {
    const sessionKey = newSessionKey();
    const good = loginBody(place.server.rootKey, { sessionKey });
    const but = (change: object) => JSON.stringify({ ...good, ...change });
    const cases: [HandLogin | string, number, string][] = [
      [
        { sessionKey, credentials: { token: "wrong guess" } },
        401,
        "login-failed",
      ],
      [{ sessionKey, credentials: { jwt: "a.b.c" } }, 401, "login-failed"],
      [{ sessionKey, credentials: {} }, 400, "bad-request"],
      [{ sessionKey, certificate: "00" }, 400, "bad-request"],
      [but({ sessionKey: "abc" }), 400, "bad-request"],
      [but({ sessionKey: "00".repeat(32) }), 400, "bad-request"],
      [but({ extra: 1 }), 400, "bad-request"],
      [but({ certificate: "zz" }), 400, "bad-request"],
      [but({ credentials: { anonymous: true } }), 400, "bad-request"],
      [but({ credentials: "{" }), 400, "bad-request"],
      [but({ at: -1 }), 400, "bad-request"],
      [but({ at: 1e300 }), 400, "bad-request"],
      [but({ proof: undefined }), 400, "bad-request"],
      [but({ proof: "00" }), 400, "bad-request"],
      [but({ rootKey: "00" }), 400, "bad-request"],
      [but({ rootKey: "00".repeat(32) }), 400, "root-key-mismatch"],
      ["{", 400, "bad-request"],
      ["[]", 400, "bad-request"],
      ["x".repeat(70_000), 413, "too-large"],
    ];
    for (const [body, status, code] of cases) {
      const found = await login(place, body);
      deepEqual([found.status, found.answer["code"]], [status, code]);
    }
    let last = 0;
    for (let i = 0; i < 30 && last !== 429; i++) {
      ({ status: last } = await login(place, { sessionKey }));
    }
    equal(last, 429);
    equal(JSON.stringify(place.records).includes("wrong guess"), false);
    const metrics = await (await place.ask("/metrics")).text();
    match(metrics, /sheaf_logins_total\{kind="token",result="refused"\} 1/);
    match(
      metrics,
      /sheaf_logins_total\{kind="other",result="rate-limited"\} 1/,
    );
  }));

Deno.test("server: takes JSON Web Tokens with claims, and refuses expired ones", () => {
  const secret = "a secret of at least thirty-two bytes";
  const jwt = { secret, audience: "sheaf", claims: { role: "position" } };
  const tokenOf = (audience: string, expires: string) =>
    new SignJWT({ sub: "ann", role: "editor" })
      .setProtectedHeader({ alg: "HS256" }).setAudience(audience)
      .setExpirationTime(expires).sign(new TextEncoder().encode(secret));
  return withServer({ login: { jwt } }, async (place) => {
    const sessionKey = newSessionKey();
    const ask = async (token: Promise<string>) =>
      await login(place, { sessionKey, credentials: { jwt: await token } });
    const good = await ask(tokenOf("sheaf", "1h"));
    equal(good.status, 200);
    const bytes = Uint8Array.fromHex(good.answer["certificate"]!);
    equal(decodeCertificate(bytes).claims, '{"position":"editor"}');
    equal((await ask(tokenOf("sheaf", "-1h"))).status, 401);
    equal((await ask(tokenOf("other", "1h"))).status, 401);
    const anonymous = { sessionKey, credentials: { anonymous: true } };
    equal((await login(place, anonymous)).status, 401);
  });
});

Deno.test("server: an app's login that fails or hangs is a 503, and is logged", () => {
  const app = () => {
    throw new Error("directory is down");
  };
  return withServer({ login: { app } }, async (place) => {
    const sessionKey = newSessionKey();
    const found = await login(place, { sessionKey, credentials: { app: 1 } });
    equal(found.status, 503);
    equal(JSON.stringify(found.answer).includes("directory"), false);
    ok(place.records.some((one) => one["message"] === "directory is down"));
  });
});

Deno.test("server: is healthy, counts requests, and gives Prometheus what it reads", () =>
  withServer({}, async ({ ask }) => {
    const health = await ask("/healthz");
    deepEqual([health.status, await health.json()], [200, { status: "ok" }]);
    await (await ask("/nowhere")).body?.cancel();
    const response = await ask("/metrics");
    match(response.headers.get("content-type")!, /^text\/plain; version=/);
    const text = await response.text();
    match(text, /sheaf_http_requests_total\{route="healthz",status="200"\} 1/);
    match(text, /sheaf_http_requests_total\{route="static",status="404"\} 1/);
    const fsyncs = /sheaf_fsyncs_total (\d+)/.exec(text)?.[1];
    ok(Number(fsyncs) > 0);
  }));

Deno.test("server: refuses pages of foreign origins where something could be had", () =>
  withServer({}, async ({ server, ask, records }) => {
    const evil = { origin: "https://evil.example" };
    const sessionKey = newSessionKey();
    const refused = await ask("/login", post({ sessionKey }, evil));
    equal(refused.status, 403);
    equal((await refused.json()).code, "foreign-origin");
    const upgrade = await ask("/sync", {
      headers: { ...evil, upgrade: "websocket", connection: "upgrade" },
    });
    equal((await upgrade.json()).code, "foreign-origin");
    const preflight = await ask("/login", { method: "OPTIONS", headers: evil });
    equal(preflight.status, 403);
    await preflight.body?.cancel();
    const own = await ask(
      "/login",
      post(loginBody(server.rootKey, { sessionKey }), { origin: server.url }),
    );
    equal(own.status, 200);
    equal(own.headers.get("access-control-allow-origin"), server.url);
    await own.body?.cancel();
    ok(records.some(({ event }) => event === "foreign-origin"));
  }));

Deno.test("server: lets pages of listed origins ask from elsewhere", () =>
  withServer({ origins: ["https://app.example"] }, async ({ ask }) => {
    const headers = { origin: "https://app.example" };
    const preflight = await ask("/login", { method: "OPTIONS", headers });
    equal(preflight.status, 204);
    equal(
      preflight.headers.get("access-control-allow-origin"),
      "https://app.example",
    );
    await preflight.body?.cancel();
  }));

Deno.test("server: answers what it cannot do with codes", () =>
  withServer({}, async ({ ask }) => {
    const cases: [string, RequestInit, number, string][] = [
      ["/nowhere", {}, 404, "not-found"],
      ["/../etc/passwd", {}, 404, "not-found"],
      ["/login", {}, 405, "bad-method"],
      ["/healthz", { method: "DELETE" }, 405, "bad-method"],
      ["/admin/quarantine", {}, 401, "login-failed"],
      ["/admin/revoke", post({}), 401, "login-failed"],
      ["/admin/nothing", post({}, asAdmin), 404, "not-found"],
      ["/admin/revoke", post({}, asAdmin), 400, "bad-request"],
      [
        "/admin/revoke",
        post({ user: "e".repeat(300) }, asAdmin),
        409,
        "invalid-option",
      ],
      [
        "/admin/revoke",
        post(
          { sessionKey: newSessionKey(), reason: "x".repeat(2_000) },
          asAdmin,
        ),
        409,
        "value-too-large",
      ],
      ["/admin/quarantine/drop", post({ id: "x" }, asAdmin), 404, "not-found"],
      [
        "/admin/quarantine/accept",
        post({ id: "x" }, asAdmin),
        404,
        "not-found",
      ],
    ];
    for (const [path, init, status, code] of cases) {
      const response = await ask(path, init);
      const found = [response.status, (await response.json()).code];
      deepEqual(found, [status, code], path);
    }
  }));

Deno.test("server: a request whose header Host is none is refused, and no failure of the server", () =>
  withServer({}, async ({ server, records }) => {
    const { hostname, port } = new URL(server.url);
    for (const host of ["[::", "a b", "x/healthz?", ""]) {
      using tcp = await Deno.connect({ hostname, port: Number(port) });
      const lines = ["GET /healthz HTTP/1.1", `Host: ${host}`, "\r\n"];
      await tcp.write(new TextEncoder().encode(lines.join("\r\n")));
      const answer = new Uint8Array(1_024);
      await tcp.read(answer);
      match(new TextDecoder().decode(answer), /^HTTP\/1\.1 400 /, host);
    }
    deepEqual(records.filter(({ level }) => level === "error"), []);
  }));

Deno.test("server: has no admin routes without an admin token, and slows who guesses it", async () => {
  const records: never[] = [];
  const { adminToken: _, ...options } = serverOptions({}, records);
  await using bare = await createServer(options);
  const none = await fetch(`${bare.url}/admin/quarantine`, {
    headers: asAdmin,
  });
  equal(none.status, 404);
  await none.body?.cancel();
  await withServer({}, async ({ ask }) => {
    let status = 0;
    const headers = { authorization: "Bearer a wrong guess" };
    for (let i = 0; i < 20 && status !== 429; i++) {
      const response = await ask("/admin/quarantine", { headers });
      ({ status } = response);
      await response.body?.cancel();
    }
    equal(status, 429);
  });
});

Deno.test("server: revokes a session over HTTP, which then gets no certificate", () =>
  withServer({}, async (place) => {
    const sessionKey = newSessionKey();
    const credentials = { token: ANN };
    await login(place, { sessionKey, credentials });
    const body = { user: "ann", reason: "stolen" };
    const revoked = await place.ask("/admin/revoke", post(body, asAdmin));
    deepEqual(await revoked.json(), {
      sessions: [sessionKey],
      repositories: 0,
    });
    const { status, answer } = await login(place, { sessionKey, credentials });
    deepEqual([status, answer["code"]], [403, "revoked"]);
    const fresh = newSessionKey();
    equal((await login(place, { sessionKey: fresh, credentials })).status, 200);
  }));

Deno.test("server: backs itself up over HTTP, and never over something or where everybody may read", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await withServer({}, async ({ ask }) => {
      const body = { folder: `${folder}/copy` };
      const first = await ask("/admin/backup", post(body, asAdmin));
      const report = await first.json();
      deepEqual([first.status, report.repositories], [200, 1]);
      const again = await ask("/admin/backup", post(body, asAdmin));
      equal(again.status, 409);
      equal((await again.json()).code, "invalid-path");
    });
    await Deno.mkdir(`${folder}/app`);
    await withServer({ static: `${folder}/app` }, async ({ ask }) => {
      const body = { folder: `${folder}/app/copy` };
      const answer = await ask("/admin/backup", post(body, asAdmin));
      equal((await answer.json()).code, "invalid-option");
      deepEqual([...Deno.readDirSync(`${folder}/app`)], []);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("server: its own records need no rule", () =>
  withServer({ rules: defineRules({}) }, async (place) => {
    const sessionKey = newSessionKey();
    const found = await login(place, {
      sessionKey,
      credentials: { token: ANN },
    });
    equal(found.status, 200);
  }));

Deno.test("createServer() refuses options that are wrong, and gives the lock back", async () => {
  const storage = memoryStorage();
  const bad = [
    { port: "80" as never },
    { port: 70_000 },
    { quotas: { connections: 0 } },
    { quotas: { conections: 1 } as object },
    { origins: ["app.example"] },
    { adminToken: "short" },
    { static: "/no/such/folder" },
    { static: "docs", contentSecurityPolicy: "a\r\nb: c" },
    { tls: { cert: "/no/such.pem", key: "/no/such.pem" } },
    { login: { tokens: { short: { user: "ann" } } } },
    { login: { jwt: {} } },
  ];
  for (const options of bad) {
    await rejects(
      createServer(serverOptions({ ...options, storage }, [])),
      { code: "invalid-option" },
      JSON.stringify(options),
    );
  }
  await rejects(
    createServer(undefined as never),
    { code: "invalid-option" },
  );
  await rejects(
    createServer({ data: 5 as never }),
    { code: "invalid-path" },
  );
  await using _server = await createServer(serverOptions({ storage }, []));
  await rejects(
    createServer(serverOptions({ storage }, [])),
    { code: "database-locked" },
  );
});

Deno.test("createServer() keeps a copy of the root secret, and takes it over after a loss", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const rootKeyFile = `${folder}/root.key`;
    const first = await createServer(serverOptions({ rootKeyFile }, []));
    equal(first.isNew, true);
    const { rootKey } = first;
    await first.close();
    if (Deno.build.os !== "windows") {
      equal((await Deno.stat(rootKeyFile)).mode! & 0o777, 0o600);
    }
    const second = await createServer(serverOptions({ rootKeyFile }, []));
    deepEqual(second.rootKey, rootKey);
    await second.close();
    const storage = memoryStorage();
    await (await createServer(serverOptions({ storage }, []))).close();
    await rejects(
      createServer(serverOptions({ storage, rootKeyFile }, [])),
      { code: "root-key-mismatch" },
    );
    await Deno.writeTextFile(rootKeyFile, "nonsense");
    await rejects(
      createServer(serverOptions({ rootKeyFile }, [])),
      { code: "invalid-option" },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
