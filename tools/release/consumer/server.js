/** @module What the server answers over HTTP, also to what is none. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { connect } from "node:net";
import {
  defineSchema,
  field,
  memoryStorage,
  openDatabase,
  serverInfo,
} from "@sheaf/sheaf";
import { createServer, embedServer } from "@sheaf/sheaf/server";
import { isInstalled, withFolder } from "./place.js";

const TOKEN = "a long enough token";

/** Sends bytes as they are; gives all that comes back. */
function raw(url, text) {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let said = "";
    socket.on("data", (bytes) => said += bytes);
    socket.on("close", () => resolve(said));
    socket.on("error", (error) => said ? resolve(said) : reject(error));
    socket.end(text);
  });
}

/** Sends bytes, and is gone without a goodbye before it is answered. */
function reset(url, text) {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.on("close", resolve);
    socket.write(text);
    // Not every runtime can reset.
    setTimeout(() => socket.resetAndDestroy?.() ?? socket.destroy(), 50);
  });
}

const upgrade = (...headers) =>
  [
    "GET /sync HTTP/1.1",
    "Host: x",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
    "",
    "",
  ].join("\r\n");

async function withServer(task) {
  await withFolder(async (folder) => {
    mkdirSync(`${folder}/public`);
    writeFileSync(`${folder}/public/index.html`, "<p>hello</p>");
    writeFileSync(`${folder}/secret`, "secret");
    const server = await createServer({
      storage: memoryStorage(),
      port: 0,
      static: `${folder}/public`,
      adminToken: TOKEN,
      log: () => {},
      login: { anonymous: true },
    });
    try {
      await task(server.url);
    } finally {
      await server.close();
    }
    await assert.rejects(fetch(server.url), "it listens no more");
  });
}

/** The checks by their sentences. */
export const server = () => ({ ...answers, ...refusals, ...embedding });

const embedding = {
  "a server inside an app's own syncs, and leaves the rest to the app":
    async () => {
      const sheaf = await embedServer({
        storage: memoryStorage(),
        path: "/api/sheaf",
        log: () => {},
        login: { anonymous: true },
      });
      const web = createHttpServer((request, response) => {
        const answer = () => response.end(`app ${request.url}`);
        if (request.url === "/slow") setTimeout(answer, 200);
        else answer();
      });
      await sheaf.attach(web);
      await new Promise((done) => web.listen(0, "127.0.0.1", done));
      const url = `http://127.0.0.1:${web.address().port}`;
      const text = async (path) => (await fetch(url + path)).text();
      assert.equal((await serverInfo(`${url}/api/sheaf`)).name, "sheaf");
      assert.match(await raw(url, upgrade()), /^HTTP\/1\.1 200 .*app \/sync/s);
      const Task = defineSchema("task", { title: field.string() });
      const db = await openDatabase({
        storage: memoryStorage(),
        rootKey: sheaf.rootKey,
        schemas: [Task],
      });
      db.connect(`${url}/api/sheaf`, { session: { anonymous: true } });
      const team = await db.repository("team");
      await team.collection(Task).create({ title: "Ship" }).synced;
      await reset(url, upgrade().replace("/sync", "/slow"));
      const slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
      for (const path of ["/sync", "/api/sheaf"]) {
        const both = slow + upgrade().replace("/sync", path);
        await raw(url, both).catch(() => {});
      }
      assert.equal(await text("/slow"), "app /slow");
      await sheaf.close();
      await db.close();
      assert.equal(await text("/api/sheaf"), "app /api/sheaf");
      web.closeAllConnections();
      await new Promise((done) => web.close(done));
    },
};

const answers = {
  "health, static files and the admin's routes are answered": () =>
    withServer(async (url) => {
      const health = await fetch(`${url}/healthz`);
      assert.deepEqual([health.status, await health.json()], [200, {
        status: "ok",
      }]);
      const page = await fetch(url);
      assert.equal(await page.text(), "<p>hello</p>");
      assert.equal(page.headers.get("x-content-type-options"), "nosniff");
      const etag = page.headers.get("etag");
      const again = await fetch(url, { headers: { "if-none-match": etag } });
      assert.equal(again.status, 304);
      assert.equal((await fetch(`${url}/..%2fsecret`)).status, 404);
      const authorization = `Bearer ${TOKEN}`;
      const admin = (headers) => fetch(`${url}/admin/quarantine`, { headers });
      assert.equal((await admin({})).status, 401);
      assert.equal((await admin({ authorization })).status, 200);
    }),
  "metrics are there with their package, and without it say what is missing":
    () =>
      withServer(async (url) => {
        const metrics = await fetch(`${url}/metrics`);
        const isThere = isInstalled("prom-client");
        assert.equal(metrics.status, isThere ? 200 : 404);
        assert.match(
          await metrics.text(),
          isThere ? /sheaf_connections 0/ : /prom-client/,
        );
      }),
};

const refusals = {
  "foreign pages are refused, and bodies are bounded": () =>
    withServer(async (url) => {
      const post = (body, headers = {}) =>
        fetch(`${url}/login`, { method: "POST", body, headers });
      const origin = "https://evil.example";
      assert.equal((await post("{}", { origin })).status, 403);
      assert.equal((await post("no JSON")).status, 400);
      const large = post("x".repeat(5_000_000)).then(
        ({ status }) => status,
        () => 413, // Or the connection was cut while it was sent.
      );
      assert.equal(await large, 413);
    }),
  "what is no request, and no upgrade, is answered and let go": () =>
    withServer(async (url) => {
      assert.match(
        await raw(url, upgrade()),
        /^HTTP\/1\.1 400 .*wrong-version/s,
      );
      const bad = upgrade("Sec-WebSocket-Protocol: sheaf.1")
        .replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "");
      assert.match(await raw(url, bad), /^HTTP\/1\.1 400 /);
      const evil = ["Sec-WebSocket-Protocol: sheaf.1", "Origin: http://evil"];
      assert.match(await raw(url, upgrade(...evil)), /^HTTP\/1\.1 403 /);
      for (
        const text of [
          "GET http://[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
          "TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
          "\0\0\0\0\r\n\r\n",
        ]
      ) {
        assert.match(await raw(url, text), /^(HTTP\/1\.1 [45]|$)/, text);
      }
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
    }),
};
