/**
 * A server inside an app's own HTTP server: the examples of the guide, as their
 * clients see them, and what hostile clients and careless apps do there.
 */

import {
  deepEqual,
  doesNotMatch,
  equal,
  match,
  ok,
  rejects,
} from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { Hono } from "hono";
import {
  start as denoServe,
  Task,
} from "../docs/guide/embedding/deno_serve.ts";
import { start as hono } from "../docs/guide/embedding/hono.ts";
import { start as nodeHttp } from "../docs/guide/embedding/node_http.ts";
import {
  type Database,
  memoryStorage,
  openDatabase,
  serverInfo,
} from "../mod.ts";
import {
  createServer,
  type EmbeddedServer,
  type EmbedOptions,
  embedServer,
  type LogRecord,
  type NodeHttpServer,
} from "../server/mod.ts";
import { trips, until, within } from "./kit/patience.ts";
import {
  asAdmin,
  loginBody,
  newSessionKey,
  post,
  serverOptions,
} from "./server_place.ts";

const PATH = "/api/sheaf";
const apps = { "Deno.serve": denoServe, "node:http": nodeHttp, Hono: hono };

/** An HTTP server of an app with a server of ours inside, and what else answers there. */
interface App {
  readonly url: string;
  readonly sheaf: EmbeddedServer;
  /** Ends the app's own server. */
  stop(): Promise<void>;
}

/** Options of ours, without a port. */
function optionsOf(options: EmbedOptions): EmbedOptions {
  const { port: _, ...rest } = serverOptions(options, []);
  return { path: PATH, ...rest };
}

async function underDeno(options: EmbedOptions): Promise<App> {
  const sheaf = await embedServer(optionsOf(options));
  const web = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request, { remoteAddr }) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/hello") return new Response("hello");
      return sheaf.handle(request, remoteAddr.hostname);
    },
  );
  const url = `http://127.0.0.1:${web.addr.port}`;
  return { url, sheaf, stop: () => web.shutdown() };
}

async function listening(web: Server): Promise<string> {
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
}

function ended(web: Server): Promise<void> {
  return new Promise((done) => {
    web.close(() => done());
    web.closeAllConnections();
  });
}

async function underNode(options: EmbedOptions): Promise<App> {
  const sheaf = await embedServer(optionsOf(options));
  const web = createHttpServer((request, response) => {
    response.statusCode = request.url === "/hello" ? 200 : 404;
    response.end("hello");
  });
  await sheaf.attach(web);
  const url = await listening(web);
  return { url, sheaf, stop: () => ended(web) };
}

/** Asks the same of both ways in. */
function both(
  sentence: string,
  work: (app: App) => Promise<void>,
  options: () => EmbedOptions = () => ({}),
): void {
  for (const [name, start] of Object.entries({ underDeno, underNode })) {
    Deno.test(`embedServer() ${sentence}: ${name}`, async () => {
      const app = await start(options());
      try {
        await work(app);
      } finally {
        await app.sheaf.close();
        await app.stop();
      }
    });
  }
}

function device({ sheaf }: Pick<App, "sheaf">): Promise<Database> {
  return openDatabase({
    storage: memoryStorage(),
    rootKey: sheaf.rootKey,
    schemas: [Task],
  });
}

const titles = async (app: { url: string }) =>
  await (await fetch(`${app.url}/tasks`)).json();

for (const [name, start] of Object.entries(apps)) {
  Deno.test(`the example of the guide syncs beside the app's own routes: ${name}`, async () => {
    const app = await start(0);
    await using db = await device(app);
    db.connect(`${app.url}${PATH}`, { session: { anonymous: true } });
    const repo = await db.repository("team");
    const tasks = repo.collection(Task);
    await tasks.create({ title: "of a client" }).synced;
    deepEqual(await titles(app), ["of a client"]);
    const made = await fetch(`${app.url}/tasks`, {
      method: "POST",
      body: "of the app",
    });
    await made.body?.cancel();
    await until(() => tasks.count() === 2, "what the app wrote comes");
    deepEqual((await titles(app)).sort(), ["of a client", "of the app"]);
    await app.stop();
    await rejects(fetch(`${app.url}/tasks`));
  });
}

both(
  "answers below its path alone, with codes for what it cannot do",
  async ({ url }) => {
    const ask = async (path: string, init?: RequestInit) => {
      const response = await fetch(`${url}${path}`, init);
      const text = await response.text();
      return [
        response.status,
        text.includes("code") ? JSON.parse(text).code : text,
      ];
    };
    equal((await serverInfo(`${url}${PATH}/sync`)).name, "sheaf");
    equal((await serverInfo(`${url}${PATH}/`)).name, "sheaf");
    deepEqual(await ask("/hello"), [200, "hello"]);
    deepEqual(await ask(`${PATH}/healthz`), [200, '{"status":"ok"}']);
    for (
      const path of [
        "/login",
        "/api/sheafx/healthz",
        `/x${PATH}/healthz`,
        `${PATH}/../healthz`,
        `/${PATH}/healthz`,
      ]
    ) {
      equal((await ask(path))[0], 404, path);
    }
    deepEqual(await ask(`${PATH}/login`), [405, "bad-method"]);
    deepEqual(await ask(`${PATH}/nothing`), [404, "not-found"]);
    deepEqual(await ask(`${PATH}/sync`), [404, "not-found"]);
    deepEqual(await ask(`${PATH}/admin/quarantine`), [401, "login-failed"]);
    deepEqual(await ask(`${PATH}/admin/quarantine`, { headers: asAdmin }), [
      200,
      '{"entries":[]}',
    ]);
    const large = await ask(`${PATH}/login`, post("x".repeat(5_000_000)))
      .catch(() => [413]); // Or the connection was cut while it was sent.
    equal(large[0], 413);
    deepEqual(await ask(`${PATH}/login`, post("{")), [400, "bad-request"]);
    deepEqual(await ask(`${PATH}/healthz`), [200, '{"status":"ok"}']);
  },
);

/** Sends bytes as they are; gives all that comes back. */
async function raw(url: string, path: string, ...headers: string[]) {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let said = "";
  socket.on("data", (bytes) => said += bytes);
  const closed = once(socket, "close");
  socket.write([
    `GET ${path} HTTP/1.1`,
    "Host: x",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...headers,
    "",
    "",
  ].join("\r\n"));
  await until(() => said !== "", "something comes back");
  if (!said.startsWith("HTTP/1.1 101")) socket.end();
  return { said: () => said, socket, closed };
}

const WEBSOCKET = "Upgrade: websocket";
const PROTOCOL = "Sec-WebSocket-Protocol: sheaf.1";

both(
  "upgrades nothing but what asks rightly, and lets go of the rest",
  async (app) => {
    const begins = async (
      wanted: RegExp,
      path: string,
      ...headers: string[]
    ) => {
      const { said, socket, closed } = await raw(app.url, path, ...headers);
      match(said(), wanted);
      await within(closed, "the connection ends");
      socket.destroy();
    };
    await begins(/^HTTP\/1\.1 400 /, PATH, WEBSOCKET);
    await begins(
      /^HTTP\/1\.1 403 /,
      PATH,
      WEBSOCKET,
      PROTOCOL,
      "Origin: http://evil",
    );
    await begins(/^HTTP\/1\.1 404 /, `${PATH}/else`, WEBSOCKET, PROTOCOL);
    await begins(/^HTTP\/1\.1 404 /, "/sync", WEBSOCKET, PROTOCOL);
    // What is no WebSocket at all is a request like any other.
    await begins(/^HTTP\/1\.1 200 .*hello/s, "/hello", "Upgrade: h2c");
    await begins(/^HTTP\/1\.1 200 .*ok/s, `${PATH}/healthz`, "Upgrade: h2c");
    equal(app.sheaf.status().connections, 0);
  },
);

/** What comes back for a request of these lines. */
async function said(url: string, ...lines: string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  let text = "";
  socket.on("data", (bytes) => text += bytes);
  const closed = once(socket, "close");
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  await closed;
  return text;
}

const told: LogRecord[] = [];

both(
  "takes no path from a header, and fails at none",
  async ({ url }) => {
    const asked = (path: string, host: string) =>
      said(url, `GET ${path} HTTP/1.1`, `Host: ${host}`);
    const healthz = `${PATH}/healthz`;
    match(await asked(healthz, "x:80"), /^HTTP\/1\.1 200 /);
    match(await asked(healthz, "[::1]:80"), /^HTTP\/1\.1 200 /);
    for (const host of [`x${healthz}?`, `x${healthz}#`, "a@b"]) {
      const answer = await asked(`${PATH}/else`, host);
      match(answer, /^HTTP\/1\.1 40[04] /, host);
      doesNotMatch(answer, /"ok"/);
    }
    deepEqual(told.filter(({ event }) => event === "request-failed"), []);
  },
  () => ({ log: (record) => told.push(record) }),
);

Deno.test("attach() leaves the app nothing to fail at when who asked it for an upgrade is gone", async () => {
  let listeners = 0;
  const web = createHttpServer(({ socket }, response) => {
    listeners = socket.listenerCount("error"); // Without one a reset would throw.
    response.end("app");
  });
  await using sheaf = await embedServer(optionsOf({}));
  await sheaf.attach(web);
  const url = await listening(web);
  const { closed } = await raw(url, "/sync", WEBSOCKET, PROTOCOL);
  await closed;
  equal(listeners, 1);
  await ended(web);
});

Deno.test("attach() ends who asks for an upgrade before he has an answer, and nobody else", async () => {
  let answer = () => {};
  const web = createHttpServer((_, response) => {
    answer = () => void response.end("app");
  });
  await using sheaf = await embedServer(optionsOf({}));
  await sheaf.attach(web);
  const url = await listening(web);
  for (const path of [PATH, "/sync"]) {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.on("error", () => {});
    const ask = ["Host: x", "", "GET " + path + " HTTP/1.1", "Host: x"];
    const upgrade = ["Connection: Upgrade", WEBSOCKET, "", ""];
    socket.write(["GET /slow HTTP/1.1", ...ask, ...upgrade].join("\r\n"));
    await once(socket, "close");
    answer();
  }
  equal((await fetch(`${url}${PATH}/healthz`)).status, 200);
  await ended(web);
});

Deno.test("attach() lets go of who was refused an upgrade and keeps his end", async () => {
  const web = createHttpServer((_, response) => response.end("app"));
  await using sheaf = await embedServer(optionsOf({}));
  await sheaf.attach(web);
  const open = new Set<Socket>();
  web.on("connection", (socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  const { port } = new URL(await listening(web));
  for (const path of [PATH, `${PATH}/else`, "/sync"]) {
    const socket = connect({ port: Number(port), allowHalfOpen: true });
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${WEBSOCKET}\r\n\r\n`,
    );
    socket.resume();
    await once(socket, "end");
    await until(() => open.size === 0, `a socket is let go: ${path}`);
    socket.destroy();
  }
  await ended(web);
});

both(
  "tells open sockets that it closes, and refuses what comes then",
  async (app) => {
    await using db = await device(app);
    db.connect(`${app.url}${PATH}`, { session: { anonymous: true } });
    const repo = await db.repository("team");
    await repo.collection(Task).create({ title: "before" }).synced;
    equal(app.sheaf.status().connections, 1);
    await app.sheaf.close();
    await until(
      () => repo.sync.status.state === "offline",
      "the client hears of it",
    );
    const hello = await fetch(`${app.url}/hello`);
    equal(await hello.text(), "hello");
    const late = await app.sheaf.handle(
      new Request(`${app.url}${PATH}/login`, post("{}")),
    );
    deepEqual([late.status, (await late.json()).code], [503, "shutting-down"]);
    const metrics = await app.sheaf.handle(
      new Request(`${app.url}${PATH}/metrics`),
    );
    deepEqual([metrics.status, (await metrics.json()).code], [
      503,
      "shutting-down",
    ]);
    await rejects(app.sheaf.attach(createHttpServer()), { code: "closed" });
  },
);

/** A login of the app's own that takes its time. */
function slowLogin() {
  const asked = Promise.withResolvers<void>();
  const allowed = Promise.withResolvers<{ user: string }>();
  const app = () => {
    asked.resolve();
    return allowed.promise;
  };
  return { app, asked: asked.promise, allow: allowed.resolve };
}

let slow = slowLogin();

both(
  "answers what has begun before it closes its database",
  async ({ url, sheaf }) => {
    const body = loginBody(sheaf.rootKey, {
      sessionKey: newSessionKey(),
      credentials: { app: 1 },
    });
    const answer = fetch(`${url}${PATH}/login`, post(body));
    await within(slow.asked, "the app is asked");
    const closed = sheaf.close();
    let isClosed = false;
    void closed.then(() => isClosed = true);
    await trips();
    equal(isClosed, false);
    slow.allow({ user: "ann" });
    const response = await answer;
    deepEqual([response.status, (await response.json()).user], [200, "ann"]);
    await closed;
  },
  () => ({ login: { app: (slow = slowLogin()).app } }),
);

both("outlives a login that throws, and logs it", async ({ url, sheaf }) => {
  const body = loginBody(sheaf.rootKey, {
    sessionKey: newSessionKey(),
    credentials: { app: 1 },
  });
  const response = await fetch(`${url}${PATH}/login`, post(body));
  deepEqual([response.status, (await response.json()).code], [
    503,
    "unavailable",
  ]);
  equal(await (await fetch(`${url}/hello`)).text(), "hello");
}, () => ({
  login: {
    app() {
      throw new Error("the app's own");
    },
  },
}));

Deno.test("embedServer() takes no options of a listener, and no path that is none", async () => {
  const code = "invalid-option";
  for (
    const odd of [{ port: 1 }, { hostname: "x" }, {
      tls: { cert: "", key: "" },
    }]
  ) {
    await rejects(embedServer({ ...optionsOf({}), ...odd }), { code });
  }
  for (
    const path of ["api", "//x", "/a//b", "/a/../b", "/a?b", "/a b", "/%61", 7]
  ) {
    const odd = { path } as EmbedOptions;
    await rejects(embedServer(optionsOf(odd)), { code }, String(path));
  }
});

Deno.test("createServer() answers below a path, and says so", async () => {
  await using server = await createServer(
    serverOptions({ path: "/api/sheaf/" }, []),
  );
  match(server.url, /^http:\/\/127\.0\.0\.1:\d+\/api\/sheaf$/);
  equal((await serverInfo(server.url)).name, "sheaf");
  const outside = await fetch(new URL("/sheaf", server.url));
  equal(outside.status, 404);
  await outside.body?.cancel();
});

Deno.test("attach() takes a server that has a path for it, once", async () => {
  const code = "invalid-option";
  await using sheaf = await embedServer(optionsOf({}));
  const web = createHttpServer();
  await sheaf.attach(web);
  await rejects(sheaf.attach(web), { code });
  for (const odd of [Object.assign(() => {}, { on() {} }), {}, 7, null]) {
    await rejects(sheaf.attach(odd as unknown as NodeHttpServer), { code });
  }
  await using pathless = await embedServer(optionsOf({ path: "/" }));
  await rejects(pathless.attach(createHttpServer()), { code });
});

Deno.test("attach() leaves to the app what the app has, and gives back what it took", async () => {
  const web = createHttpServer((request, response) => {
    response.end(`app ${request.url}`);
  });
  web.on("upgrade", (_, socket) => socket.end("HTTP/1.1 418 Own\r\n\r\n"));
  const url = await listening(web);
  const text = async (path: string) => (await fetch(`${url}${path}`)).text();
  const own = async () => (await raw(url, "/own", WEBSOCKET)).said();
  const first = await embedServer(optionsOf({ name: "first" }));
  const second = await embedServer(optionsOf({ name: "second", path: "/b" }));
  await first.attach(web);
  await second.attach(web);
  equal((await serverInfo(`${url}${PATH}`)).name, "first");
  equal((await serverInfo(`${url}/b`)).name, "second");
  equal(await text("/hello"), "app /hello");
  match(await own(), /^HTTP\/1\.1 418 /);
  match(
    (await raw(url, "/b/sync", WEBSOCKET, PROTOCOL)).said(),
    /^HTTP\/1\.1 101 /,
  );
  match((await raw(url, PATH, WEBSOCKET, PROTOCOL)).said(), /^HTTP\/1\.1 101 /);
  await first.close();
  equal(await text(`${PATH}/healthz`), `app ${PATH}/healthz`);
  equal((await serverInfo(`${url}/b`)).name, "second");
  await second.close();
  equal(await text("/b/healthz"), "app /b/healthz");
  match(await own(), /^HTTP\/1\.1 418 /);
  ok(web.listening);
  await using third = await embedServer(optionsOf({}));
  await third.attach(web);
  await third.close();
  equal(await text(PATH), `app ${PATH}`);
  await ended(web);
});

Deno.test("attach() is silent where a listener of the app's was first", async () => {
  const web = createHttpServer();
  await using sheaf = await embedServer(optionsOf({}));
  await sheaf.attach(web);
  web.prependListener("request", (_, response) => {
    response.writeHead(401).end("not you");
  });
  web.prependListener("upgrade", (_, socket) => {
    socket.end("HTTP/1.1 401 \r\n\r\n");
  });
  const url = await listening(web);
  const response = await fetch(`${url}${PATH}/healthz`);
  deepEqual([response.status, await response.text()], [401, "not you"]);
  const { said, socket } = await raw(url, PATH, WEBSOCKET, PROTOCOL);
  match(said(), /^HTTP\/1\.1 401 \r\n\r\n$/);
  socket.destroy();
  const metrics = await sheaf.handle(new Request(`${url}${PATH}/metrics`));
  doesNotMatch(await metrics.text(), /route="/);
  await ended(web);
});

Deno.test("handle() works behind middleware that answers, fails, or reads the body before", async () => {
  const records: LogRecord[] = [];
  await using sheaf = await embedServer({
    ...optionsOf({}),
    log: (record) => records.push(record),
  });
  const app = new Hono();
  app.use(async (c, next) => {
    if (c.req.query("banned") !== undefined) return c.text("not you", 401);
    if (c.req.query("fails") !== undefined) throw new Error("the app's own");
    if (c.req.query("reads") !== undefined) await c.req.raw.text();
    await next();
  });
  app.onError((_, c) => c.text("the app failed", 500));
  app.all(`${PATH}/*`, (c) => sheaf.handle(c.req.raw));
  const ask = async (path: string, init?: RequestInit) => {
    const response = await app.request(`http://x${PATH}${path}`, init);
    return [response.status, await response.text()];
  };
  deepEqual(await ask("/healthz"), [200, '{"status":"ok"}']);
  deepEqual(await ask("/healthz?banned"), [401, "not you"]);
  deepEqual(await ask("/healthz?fails"), [500, "the app failed"]);
  const [status, text] = await ask("/login?reads", post("{}"));
  deepEqual([status, JSON.parse(String(text)).code], [500, "internal"]);
  const told = records.find(({ event }) => event === "request-failed");
  match(String(told?.["message"]), /read the body before/);
});

Deno.test("handle() says what is missing where an upgrade cannot be made", async () => {
  await using sheaf = await embedServer(optionsOf({}));
  const headers = {
    upgrade: "websocket",
    connection: "upgrade",
    "sec-websocket-protocol": "sheaf.1",
  };
  // A copy, as some routers make one.
  const copy = new Request(`http://x${PATH}`, { headers });
  const response = await sheaf.handle(copy);
  equal(response.status, 400);
  match((await response.json()).message, /as it came/);
  equal(sheaf.status().connections, 0);
});
