/**
 * The routes of a server over HTTP, below the path that it was given.
 *
 * ```text
 * GET  /healthz /metrics /sheaf      for everybody
 * POST /login                        see login_route.ts
 * GET  / or /sync, upgraded          the wire of docs/protocol.md
 * *    /admin/…                      with the admin token; see admin.ts
 * GET  everything else               static files, where there is a folder
 * ```
 *
 * Architecture invariant: a foreign web page gets nothing but a 403 where
 * something could be had or done in a user's name.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { addressOf } from "./address.ts";
import { faultResponse, HttpFault, jsonResponse } from "./body.ts";
import { type Log, messageOf } from "./log.ts";
import type { LoginRoute } from "./login_route.ts";
import type { Metrics } from "./metrics.ts";
import { isHost, type OriginCheck } from "./origin.ts";
import type { StaticFiles } from "./static_files.ts";

/** How a server is. */
export interface Health {
  readonly status: "ok" | "restoring" | "failing" | "shutting-down";
  readonly [detail: string]: unknown;
}

/** What the routes lead to. */
export interface HttpParts {
  /** What all addresses begin with: empty, or `/api/sheaf`. */
  readonly base: string;
  readonly origin: OriginCheck;
  readonly login: LoginRoute;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly trustsProxy: boolean;
  readonly isClosing: () => boolean;
  readonly health: () => Health;
  /** What everybody may know of this server. */
  readonly info: () => unknown;
  readonly upgrade: (request: Request, address: string) => Response;
  readonly admin: ((asked: Asked) => Promise<Response>) | undefined;
  readonly files: StaticFiles | undefined;
}

/** A request, and what is known of it. */
export interface Asked {
  readonly request: Request;
  /** Without the base. */
  readonly path: string;
  /** For quotas and logs. */
  readonly address: string;
}

interface Route {
  /** For metrics. */
  readonly name: string;
  readonly methods: readonly string[];
  /** Is it refused to foreign web pages? */
  readonly isGuarded: boolean;
  readonly answer: (asked: Asked) => Response | Promise<Response>;
}

const UPGRADE_PATHS = ["/", "/sync"];
const ADMIN = "/admin/";

/** Answers requests. */
export class Http {
  readonly #parts: HttpParts;
  readonly #routes: Readonly<Record<string, Route>>;
  readonly #upgrade: Route;
  readonly #admin: Route | undefined;
  readonly #running = new Set<Promise<Response>>();

  /** @param parts what the routes lead to */
  constructor(parts: HttpParts) {
    this.#parts = parts;
    const get = ["GET", "HEAD"];
    this.#routes = {
      "/healthz": open("healthz", get, () => this.#health()),
      "/metrics": open("metrics", get, () => this.#metrics()),
      "/sheaf": open("sheaf", get, () => jsonResponse(parts.info())),
      "/login": guarded(
        "login",
        ["POST"],
        ({ request, address }) => parts.login.answer(request, address),
      ),
    };
    this.#upgrade = guarded(
      "sync",
      ["GET"],
      ({ request, address }) => parts.upgrade(request, address),
    );
    const { admin } = parts;
    this.#admin = admin && guarded(
      "admin",
      ["GET", "POST"],
      (asked) => admin(asked),
    );
  }

  /** What all addresses begin with: empty, or `/api/sheaf`. */
  get base(): string {
    return this.#parts.base;
  }

  /** Does an address lie below the base? */
  isBelow(pathname: string): boolean {
    const { base } = this.#parts;
    return pathname === base || pathname.startsWith(`${base}/`);
  }

  /** Answers one request; never throws. */
  readonly answer = (request: Request, remote: string): Promise<Response> => {
    const response = this.#respond(request, remote);
    this.#running.add(response);
    return response.finally(() => this.#running.delete(response));
  };

  /** Resolves when what is being answered now is answered. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  async #respond(request: Request, remote: string): Promise<Response> {
    const { base, metrics, trustsProxy } = this.#parts;
    const address = addressOf(request, remote, trustsProxy);
    // The platform makes the address of it.
    if (!isHost(request.headers.get("host") ?? "x")) {
      return faultResponse(400, "bad-request", "This is no host");
    }
    const { pathname } = new URL(request.url);
    if (!this.isBelow(pathname)) return nothingHere();
    const path = pathname.slice(base.length) || "/";
    const asked = { request, path, address };
    const route = this.#routeOf(asked);
    const response = await this.#answer(route, asked);
    metrics.request(route?.name ?? "static", response.status);
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
    const isForeign = !this.#parts.origin(request);
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
      if (route.isGuarded && this.#parts.isClosing()) {
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
    this.#parts.metrics.protocolError("foreign-origin");
    const fields = { kind: "foreign-origin", origin, path };
    this.#parts.log.tellOf(address, "warn", "foreign-origin", fields);
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
    this.#parts.log.tellOf(address, "error", "request-failed", {
      path,
      message,
    });
    return faultResponse(500, "internal", "The server failed");
  }

  #health(): Response {
    const health = this.#parts.health();
    const isWell = health.status === "ok" || health.status === "restoring";
    return jsonResponse(health, isWell ? 200 : 503);
  }

  async #metrics(): Promise<Response> {
    const metrics = await this.#parts.metrics.text();
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
    const { files } = this.#parts;
    const reads = request.method === "GET" || request.method === "HEAD";
    const found = reads ? await files?.answer(request, path) : undefined;
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
