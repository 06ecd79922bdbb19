/**
 * The routes of a server over HTTP, below the path that it was given.
 *
 * ```text
 * GET  /healthz /metrics /sheaf      for everybody
 * POST /login                        see login_route.ts
 * GET  / or /sync, upgraded          the wire of docs/protocol.md
 * *    /admin/…                      with the admin token
 * GET  everything else               static files, where there is a folder
 * ```
 *
 * Architecture invariant: a foreign web page gets nothing but a 403 where
 * something could be had or done in a user's name.
 *
 * `/admin`: revoking, quarantine and backup over HTTP, for who shows the admin
 * token.
 *
 * Architecture invariant: the token is compared in constant time, wrong ones
 * are counted against the address that showed them, and both are logged.
 */

import { DatabaseError } from "../src/base/errors.ts";
import {
  pickProtocol,
  upgradeRequest,
} from "../sync/transport/websocket_server.ts";
import { system } from "../src/base/system.ts";
import {
  addressOf,
  isHost,
  normalOrigin,
  type OriginCheck,
  originCheck,
} from "./origin.ts";
import type { EmbeddedServer, Whom } from "./api.ts";
import {
  type Asked,
  faultResponse,
  HttpFault,
  isRecord,
  jsonResponse,
  readJson,
} from "./body.ts";
import { type Log, messageOf } from "./log.ts";
import type { ServerOptions } from "./options.ts";
import { type Buckets, perMinute } from "./quotas.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";
import type { Connections } from "./connections.ts";
import { isSecret } from "./login.ts";

export type Served = Service & Pick<EmbeddedServer, "backup">;

interface Route {
  readonly name: string;
  readonly methods: readonly string[];
  readonly isGuarded: boolean;
  readonly answer: (asked: Asked) => Response | Promise<Response>;
}

const UPGRADE_PATHS = ["/", "/sync"];
const ADMIN = "/admin/";

/** Wrong admin tokens that an address may show in a minute. */
const WRONG_TOKENS = 10;
const ADMIN_TOKEN_MIN = 8;
/** Segments that no browser and no proxy changes on the way. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/;
const PLAIN = /^[ -~]*$/;

export class Http {
  /** What all addresses begin with: empty, or `/api/sheaf`. */
  readonly base: string;
  readonly #server: Served;
  readonly #trustsProxy: boolean;
  readonly #isOrigin: OriginCheck;
  readonly #files: StaticFiles | undefined;
  readonly #routes: Readonly<Record<string, Route>>;
  readonly #upgrade: Route;
  readonly #admin: Route | undefined;
  readonly #running = new Set<Promise<Response>>();

  private constructor(server: Served, files: StaticFiles | undefined) {
    const { options } = server;
    this.#server = server;
    this.base = baseOf(options.path);
    // What is no boolean believes nobody.
    this.#trustsProxy = options.trustProxy === true;
    this.#isOrigin = originCheck(checkOrigins(options.origins ?? []));
    this.#files = files;
    const { connections, login, tracing } = server;
    const get = ["GET", "HEAD"];
    this.#routes = {
      "/healthz": open("healthz", get, () => this.#health()),
      "/metrics": open("metrics", get, () => this.#metrics()),
      "/sheaf": open("sheaf", get, () => jsonResponse(server.info())),
      "/login": guarded(
        "login",
        ["POST"],
        ({ request, address }) => login.answer(request, address),
      ),
    };
    this.#upgrade = guarded("sync", ["GET"], ({ request, address }) => {
      const attributes = { "client.address": address };
      const answer = () => upgrade(request, address, connections);
      return tracing.span("sheaf.upgrade", attributes, answer);
    });
    const admin = adminOf(server);
    this.#admin = admin && guarded("admin", ["GET", "POST"], admin);
  }

  static async open(server: Served): Promise<Http> {
    return new Http(server, await filesOf(server.options));
  }

  isBelow(pathname: string): boolean {
    return pathname === this.base || pathname.startsWith(`${this.base}/`);
  }

  readonly answer = (request: Request, remote: string): Promise<Response> => {
    const response = this.#respond(request, remote);
    this.#running.add(response);
    return response.finally(() => this.#running.delete(response));
  };

  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #respond(request: Request, remote: string): Promise<Response> {
    const address = addressOf(request, remote, this.#trustsProxy);
    // The platform makes the address of it.
    if (!isHost(request.headers.get("host") ?? "x")) {
      return faultResponse(400, "bad-request", "This is no host");
    }
    const { pathname } = new URL(request.url);
    if (!this.isBelow(pathname)) return nothingHere();
    const path = pathname.slice(this.base.length) || "/";
    const asked = { request, path, address };
    const route = this.#routeOf(asked);
    const response = await this.#answer(route, asked);
    this.#server.metrics.request(route?.name ?? "static", response.status);
    return response;
  }

  #routeOf({ request, path }: Asked): Route | undefined {
    const upgrade = request.headers.get("upgrade")?.toLowerCase();
    if (upgrade === "websocket" && UPGRADE_PATHS.includes(path)) {
      return this.#upgrade;
    }
    if (path.startsWith(ADMIN)) return this.#admin;
    return Object.hasOwn(this.#routes, path) ? this.#routes[path] : undefined;
  }

  async #answer(route: Route | undefined, asked: Asked): Promise<Response> {
    const { request } = asked;
    // Read now: an upgraded request tells nothing any more.
    const origin = request.headers.get("origin");
    const isForeign = !this.#isOrigin(request);
    try {
      if (route === undefined) return await this.#file(asked);
      if (isForeign && route.isGuarded) return this.#refuseOrigin(asked);
      if (request.method === "OPTIONS") {
        if (isForeign) return this.#refuseOrigin(asked);
        return shareWithPage(origin, preflight(route));
      }
      if (!route.methods.includes(request.method)) {
        const allow = { allow: route.methods.join(", ") };
        return faultResponse(
          405,
          "bad-method",
          "This takes another method",
          allow,
        );
      }
      if (route.isGuarded && this.#server.isClosing) {
        throw new HttpFault(503, "shutting-down", "The server is closing");
      }
      const response = await route.answer(asked);
      return isForeign ? response : shareWithPage(origin, response);
    } catch (error) {
      const response = this.#failed(error, asked);
      return isForeign ? response : shareWithPage(origin, response);
    }
  }

  #refuseOrigin({ request, address, path }: Asked): Response {
    const origin = request.headers.get("origin") ?? "";
    this.#server.metrics.protocolError("foreign-origin");
    const fields = { kind: "foreign-origin", origin, path };
    this.#server.log.tellOf(address, "warn", "foreign-origin", fields);
    return faultResponse(
      403,
      "foreign-origin",
      "Pages of this origin may not use this server",
    );
  }

  #failed(error: unknown, { address, path }: Asked): Response {
    if (error instanceof HttpFault) {
      const retry: Record<string, string> = error.status === 429
        ? { "retry-after": "10" }
        : {};
      const { status, code, message, fields } = error;
      return jsonResponse({ ...fields, code, message }, status, retry);
    }
    if (error instanceof DatabaseError && error.code === "closed") {
      return faultResponse(503, "shutting-down", "The server is closed");
    }
    const message = messageOf(error);
    this.#server.log.tellOf(address, "error", "request-failed", {
      path,
      message,
    });
    return faultResponse(500, "internal", "The server failed");
  }

  #health(): Response {
    const health = this.#server.health();
    const isWell = health.status === "ok" || health.status === "restoring";
    return jsonResponse(health, isWell ? 200 : 503);
  }

  async #metrics(): Promise<Response> {
    const metrics = await this.#server.metrics.text();
    if (metrics === undefined) {
      throw new HttpFault(
        404,
        "not-found",
        "Metrics need the package prom-client, which is not installed",
      );
    }
    const headers = { "content-type": metrics.type };
    return new Response(metrics.text, { headers });
  }

  async #file({ request, path }: Asked): Promise<Response> {
    const reads = request.method === "GET" || request.method === "HEAD";
    const found = reads ? await this.#files?.answer(request, path) : undefined;
    return found ?? nothingHere();
  }
}

function nothingHere(): Response {
  return faultResponse(404, "not-found", "There is nothing here");
}

function open(
  name: string,
  methods: readonly string[],
  answer: Route["answer"],
): Route {
  return { name, methods, isGuarded: false, answer };
}

function guarded(
  name: string,
  methods: readonly string[],
  answer: Route["answer"],
): Route {
  return { name, methods, isGuarded: true, answer };
}

/** A page of an allowed origin may ask what it likes. */
function preflight({ methods }: Route): Response {
  return new Response(null, {
    status: 204,
    headers: {
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers": "content-type, authorization",
      "access-control-max-age": "600",
    },
  });
}

/** Lets a page of an allowed origin read the answer. */
function shareWithPage(origin: string | null, response: Response): Response {
  if (origin === null || response.status === 101) return response;
  response.headers.set("access-control-allow-origin", origin);
  response.headers.append("vary", "origin");
  return response;
}

/** The platform pings a silent socket after this long and lets go of a dead one. */
const IDLE_SECONDS = 30;

export function upgrade(
  request: Request,
  address: string,
  connections: Connections,
): Response {
  const offered = request.headers.get("sec-websocket-protocol");
  const protocol = pickProtocol(offered ?? "");
  if (protocol === undefined) {
    throw connections.declined(
      address,
      400,
      "wrong-version",
      "This server speaks the subprotocols sheaf.1, sheaf.1.zstd and sheaf.1.deflate",
    );
  }
  const places = connections.take(address);
  try {
    const options = { idleTimeout: IDLE_SECONDS };
    const wire = upgradeRequest(request, protocol, options);
    connections.begin(wire, address, places);
    return wire.response;
  } catch (error) {
    places.connection();
    places.unproved();
    if (!(error instanceof TypeError)) throw error;
    throw new HttpFault(
      400,
      "bad-request",
      "This is no WebSocket upgrade, or not the request as it came",
    );
  }
}

function adminOf(server: Served) {
  const { adminToken: token } = server.options;
  if (token === undefined) return undefined;
  if (token.length < ADMIN_TOKEN_MIN) {
    throw new DatabaseError(
      "invalid-option",
      `\`adminToken\` takes ${ADMIN_TOKEN_MIN} characters or more`,
    );
  }
  return adminRoutes(token, server, perMinute(WRONG_TOKENS));
}

function checkOrigins(origins: readonly string[]): readonly string[] {
  const odd = origins.find((one) =>
    one !== "*" && normalOrigin(one) === undefined
  );
  if (odd === undefined) return origins;
  throw new DatabaseError(
    "invalid-option",
    `\`origins\` has ${JSON.stringify(odd)}: give https://host[:port] or "*"`,
  );
}

async function filesOf(
  { static: folder, contentSecurityPolicy, data, rootKeyFile, tls }:
    ServerOptions,
): Promise<StaticFiles | undefined> {
  if (folder === undefined) return undefined;
  const secrets = [data, rootKeyFile, tls?.key].filter((one) =>
    one !== undefined
  );
  const files = new StaticFiles(folder, policyOf(contentSecurityPolicy));
  try {
    await files.check();
    for (const secret of secrets) await files.checkApart(secret);
    return files;
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    throw new DatabaseError(
      "invalid-option",
      `\`static\` names ${folder}, which cannot be read`,
      { cause },
    );
  }
}

function policyOf(policy: string | undefined): string | undefined {
  if (policy === undefined || PLAIN.test(policy)) return policy;
  throw new DatabaseError(
    "invalid-option",
    "`contentSecurityPolicy` must be one line of ASCII, as a header has it",
  );
}

function baseOf(path: string): string {
  const base = typeof path === "string" ? path.replace(/\/$/, "") : "?";
  if (PATH.test(base)) return base;
  throw new DatabaseError(
    "invalid-option",
    `\`path\` is ${JSON.stringify(path)}: it begins with "/", as "/api/sheaf"`,
  );
}

/** What an administrator may do, and where it is logged. */
type Administered =
  & Pick<
    EmbeddedServer,
    "revoke" | "quarantine" | "accept" | "drop" | "backup"
  >
  & { readonly log: Log };

type Action = (body: Record<string, unknown>) => Promise<unknown>;

function adminRoutes(
  token: string,
  server: Administered,
  wrongTokens: Buckets,
): (asked: Asked) => Promise<Response> {
  const posts: Readonly<Record<string, Action>> = {
    "/admin/revoke": (body) => server.revoke(whomOf(body), reasonOf(body)),
    "/admin/backup": (body) => server.backup(textOf(body, "folder")),
    "/admin/quarantine/accept": async (body) => ({
      commits: await server.accept(textOf(body, "id")),
    }),
    "/admin/quarantine/drop": async (body) => {
      await server.drop(textOf(body, "id"));
      return {};
    },
  };
  const checkToken = (request: Request, address: string): void => {
    const shown = /^Bearer (.+)$/.exec(
      request.headers.get("authorization") ?? "",
    )?.[1];
    const nowMs = system.monotonic();
    if (wrongTokens.debt(address, nowMs) > 0) {
      throw new HttpFault(429, "rate-limited", "Too many wrong tokens");
    }
    if (shown !== undefined && isSecret(shown, token)) return;
    wrongTokens.take(address, 1, nowMs);
    server.log.write("warn", "admin-refused", { address });
    throw new HttpFault(401, "login-failed", "The admin token is wrong");
  };
  return async ({ request, path, address }) => {
    checkToken(request, address);
    if (request.method === "GET" && path === "/admin/quarantine") {
      return jsonResponse({ entries: server.quarantine() });
    }
    const isKnown = request.method === "POST" && Object.hasOwn(posts, path);
    if (!isKnown) throw new HttpFault(404, "not-found", "No such action");
    const body = await readJson(request);
    if (!isRecord(body)) throw bad("The body must be a JSON object");
    const answer = await done(posts[path]!(body));
    server.log.write("info", "admin", { action: path, address });
    return jsonResponse(answer);
  };
}

async function done(action: Promise<unknown>): Promise<unknown> {
  try {
    return await action;
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new HttpFault(409, error.code, error.message);
  }
}

function bad(message: string): HttpFault {
  return new HttpFault(400, "bad-request", message);
}

function textOf(body: Record<string, unknown>, key: string): string {
  const value = body[key];
  if (typeof value === "string" && value !== "") return value;
  throw bad(`\`${key}\` must be a text`);
}

function reasonOf({ reason = "" }: Record<string, unknown>): string {
  if (typeof reason === "string" && reason.isWellFormed()) return reason;
  throw bad("`reason` must be a text");
}

function whomOf(body: Record<string, unknown>): Whom {
  if (body["sessionKey"] !== undefined) {
    return { sessionKey: textOf(body, "sessionKey") };
  }
  return { user: textOf(body, "user") };
}
