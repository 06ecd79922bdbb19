/** The command line around a server: `deno task serve` as a real process, backup and restore, admin, TLS. */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { defineSchema, field, openDatabase } from "../mod.ts";
import { createServer } from "../server/mod.ts";
import { runHere } from "./cli_place.ts";
import { Child } from "./kit/child.ts";
import { clientOf } from "./server_clients.ts";
import { selfSigned } from "./self_signed.ts";
import {
  ADMIN,
  ANN,
  loginBody,
  newSessionKey,
  post,
  serverOptions,
  withServer,
} from "./server_place.ts";

const root = new URL("..", import.meta.url);
const Note = defineSchema("note", { text: field.string() });

async function withFolder(
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await work(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function sheaf(
  task: "serve" | "sheaf",
  args: readonly string[],
  env: Record<string, string> = {},
): Child {
  return new Child(["task", "--quiet", task, ...args], { cwd: root, env });
}

/** The root key that a server's summary tells. */
function rootKeyIn(summary: string): Uint8Array {
  return Uint8Array.fromHex(/root key +([0-9a-f]{64})/.exec(summary)![1]!);
}

/** A client that never answers anything: the server waits a while for it. */
async function deafClient(port: number): Promise<Deno.TcpConn> {
  const socket = await Deno.connect({ port });
  const lines = [
    "GET /sync HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
    "sec-websocket-protocol: sheaf.1",
  ];
  const text = `${lines.join("\r\n")}\r\n\r\n`;
  await socket.write(new TextEncoder().encode(text));
  await socket.read(new Uint8Array(1_024)); // Upgraded.
  return socket;
}

Deno.test("deno task serve prints its summary, serves, and ends with 0 at SIGTERM", () =>
  withFolder(async (folder) => {
    const config = `${folder}/sheaf.json`;
    await Deno.writeTextFile(config, '{"name": "garden", "port": 1}');
    const args = [
      ...["--config", config, "--port", "0", "--data", `${folder}/data`],
      ...["--token", `ann=${ANN}`, "--admin-token", ADMIN],
      ...["--log-level", "warn"],
    ];
    await using child = sheaf("serve", args, { SHEAF_SESSION_DAYS: "3" });
    const summary = await child.said(/client: .*\n/);
    const url = /listens on (http:\S+)/.exec(summary)?.[1];
    match(
      summary,
      /Sheaf server "garden" listens on http:\/\/127\.0\.0\.1:\d+/,
    );
    match(summary, /sessionDays +3 {2}\(environment\)/);
    match(summary, /login\.tokens +ann=\*\*\* {2}\(flag\)/);
    match(summary, /root key +[0-9a-f]{64}/);
    match(summary, /Back up .*\/data\/database/);
    match(summary, /warning: no rules/);
    equal(summary.includes(ANN) || summary.includes(ADMIN), false);
    const sessionKey = newSessionKey();
    const credentials = { token: ANN };
    const rootKey = rootKeyIn(summary);
    const login = await fetch(
      `${url}/login`,
      post(loginBody(rootKey, { sessionKey, credentials })),
    );
    equal(login.status, 200);
    await login.body?.cancel();
    child.kill("SIGTERM");
    await child.endsWell();
    await using again = await openDatabase({ path: `${folder}/data` });
    deepEqual(again.repositories(), ["_server"]);
  }));

Deno.test("deno task serve takes two signals at once for one, as service managers send them", () =>
  withFolder(async (folder) => {
    const args = ["--port", "0", "--data", folder, "--token", `ann=${ANN}`];
    await using child = sheaf("serve", args);
    const summary = await child.said(/client: .*\n/);
    const port = Number(/listens on http:\S+:(\d+)/.exec(summary)![1]);
    using _socket = await deafClient(port);
    child.kill("SIGTERM");
    await child.said(/"event":"closing"/, "err");
    child.kill("SIGTERM"); // The same one, handed on by `deno task`.
    await child.said(/"event":"closed"/, "err");
    await child.endsWell();
  }));

Deno.test("deno task serve loads schemas, whose constraints hold", () =>
  withFolder(async (folder) => {
    const schemas = `${folder}/schemas.ts`;
    const entry = new URL("../mod.ts", import.meta.url).href;
    await Deno.writeTextFile(
      schemas,
      `import { defineSchema, field } from "${entry}";
       const text = field.string();
       export default [defineSchema("note", { text }, { unique: [["text"]] })];\n`,
    );
    const data = `${folder}/data`;
    const args = ["--port", "0", "--data", data, "--token", `ann=${ANN}`];
    await using child = sheaf("serve", [...args, "--schemas", schemas]);
    const summary = await child.said(/client: .*\n/);
    const url = /listens on (http:\S+)/.exec(summary)![1]!;
    const rootKey = rootKeyIn(summary);
    await using ann = await clientOf({ url, rootKey }, { token: ANN });
    await ann.notes.create({ text: "once" }).synced;
    await rejects(ann.notes.create({ text: "once" }).synced, /same text/);
    child.kill("SIGTERM");
    await child.endsWell();
    const rules = `${folder}/rules.ts`;
    await Deno.writeTextFile(rules, "export default [{}];\n");
    await using other = sheaf("serve", ["--data", data, "--schemas", rules]);
    const bad = await other.ended;
    equal(bad.code, 1, bad.report);
    match(bad.err, /error\[invalid-option\].*"schemas"/);
  }));

Deno.test("deno task serve loads rules and a login of the operator's own", () =>
  withFolder(async (folder) => {
    const rules = `${folder}/rules.ts`;
    const entry = new URL("../mod.ts", import.meta.url).href;
    await Deno.writeTextFile(
      rules,
      `import { defineRules } from "${entry}";\nexport default defineRules({});\n`,
    );
    const login = `${folder}/login.ts`;
    await Deno.writeTextFile(
      login,
      'export default (shown: unknown) => shown === "hi" ? { user: "ali" } : { refused: "no" };\n',
    );
    const data = `${folder}/data`;
    const args = ["--port", "0", "--data", data, "--rules", rules];
    await using child = sheaf("serve", [...args, "--login", login]);
    const summary = await child.said(/client: .*\n/);
    equal(summary.includes("warning"), false, summary);
    const url = /listens on (http:\S+)/.exec(summary)![1];
    const sessionKey = newSessionKey();
    const asked = { sessionKey, credentials: { app: "hi" } };
    const body = post(loginBody(rootKeyIn(summary), asked));
    const answer = await (await fetch(`${url}/login`, body)).json();
    equal(answer.user, "ali");
    child.kill("SIGTERM");
    await child.endsWell();
    await using other = sheaf("serve", ["--data", data, "--rules", login]);
    const bad = await other.ended;
    equal(bad.code, 1, bad.report);
    match(bad.err, /error\[invalid-option\].*"rules"/);
    // What rules have judged is served without them only by who says so.
    const without = await runHere(["serve", "--data", data], folder);
    equal(without.code, 1, without.report);
    match(without.err, /error\[rules-missing\].*\n {2}hint: .*--no-rules/);
    const open = ["--port", "0", "--data", data, "--no-rules"];
    await using meant = sheaf("serve", open);
    match(await meant.said(/client: .*\n/), /warning: no rules/);
    meant.kill("SIGTERM");
    await meant.endsWell();
  }));

Deno.test("deno task serve names the setting that is wrong, and ends with 1", async () => {
  await using child = sheaf("serve", ["--port", "many"]);
  const { code, err, report } = await child.ended;
  equal(code, 1, report);
  match(err, /error\[invalid-option\].*"port"/);
});

Deno.test("sheaf backup copies a database that a server writes, and restore makes it a database", () =>
  withFolder(async (folder) => {
    const data = `${folder}/data`;
    const copy = `${folder}/copy`;
    const back = `${folder}/back`;
    const schemas = [Note];
    const server = await createServer(serverOptions({ data, schemas }, []));
    const repository = await server.database.repository("team/a");
    const notes = repository.collection(Note);
    for (let i = 0; i < 20; i++) await notes.create({ text: `${i}` });
    await fetch(
      `${server.url}/login`,
      post(loginBody(server.rootKey, { sessionKey: newSessionKey() })),
    ).then((response) => response.body?.cancel());
    const args = ["backup", "--data", data, "--to", copy];
    await using backup = sheaf("sheaf", args);
    const made = await backup.ended;
    equal(made.code, 0, made.report);
    match(made.out, /backed up to .*: 2 repositories, \d+ commits?, /);
    const twice = await runHere(args, folder);
    equal(twice.code, 1, twice.report);
    match(twice.err, /error\[invalid-path\].*not empty/);
    await server.close();
    const undo = ["restore", "--from", copy, "--to", back];
    const restored = await runHere(undo, folder);
    equal(restored.code, 0, restored.report);
    const options = serverOptions({ data: back, schemas }, []);
    await using other = await createServer(options);
    deepEqual(other.rootKey, server.rootKey);
    const copied = (await other.database.repository("team/a")).collection(Note);
    equal(copied.count(), 20);
  }));

Deno.test("sheaf admin revokes and lists over HTTP, and explains what went wrong", () =>
  withServer({}, async ({ server, ask }) => {
    const admin = (...args: string[]) => runHere(["admin", ...args], ".");
    const sessionKey = newSessionKey();
    const credentials = { token: ANN };
    const body = loginBody(server.rootKey, { sessionKey, credentials });
    const login = await ask("/login", post(body));
    await login.body?.cancel();
    const at = ["--url", server.url, "--admin-token", ADMIN];
    const revoke = ["admin", "revoke", "--user", "ann", ...at];
    await using process = sheaf("sheaf", revoke);
    const revoked = await process.ended;
    equal(revoked.code, 0, revoked.report);
    match(revoked.out, /revoked 1 session/);
    match(revoked.out, new RegExp(sessionKey));
    const listed = await admin("quarantine", ...at);
    equal(listed.code, 0, listed.report);
    match(listed.out, /the quarantine is empty/);
    const wrong = ["--url", server.url, "--admin-token", "a wrong token"];
    const refused = await admin("quarantine", ...wrong);
    equal(refused.code, 1, refused.report);
    match(refused.err, /error\[login-failed\]/);
    const usage = await admin("revoke", ...at);
    equal(usage.code, 2, usage.report);
  }));

Deno.test("server: speaks TLS with a certificate and key from files", () =>
  withFolder(async (folder) => {
    const { cert, key } = selfSigned();
    const tls = { cert: `${folder}/cert.pem`, key: `${folder}/key.pem` };
    await Deno.writeTextFile(tls.cert, cert);
    await Deno.writeTextFile(tls.key, key);
    await withServer({ tls }, async ({ server }) => {
      match(server.url, /^https:/);
      using client = Deno.createHttpClient({ caCerts: [cert] });
      const response = await fetch(`${server.url}/healthz`, { client });
      deepEqual(await response.json(), { status: "ok" });
    });
  }));
