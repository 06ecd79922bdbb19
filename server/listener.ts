/**
 * The listening socket: TLS, routes, and what becomes of them on close.
 *
 * @module
 */

import { readFile } from "node:fs/promises";
import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import { type AdminActions, adminRoutes } from "./admin.ts";
import { Http } from "./http.ts";
import {
  type HttpServer,
  type HttpServerOptions,
  serveHttp,
} from "./http_server.ts";
import { messageOf } from "./log.ts";
import type { ServerOptions } from "./options.ts";
import { normalOrigin, originCheck } from "./origin.ts";
import { perMinute } from "./quotas.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";
import { upgrade } from "./upgrade.ts";

/** What a listener works with. */
export interface ListenerParts {
  readonly options: ServerOptions;
  readonly service: Service;
  readonly actions: AdminActions;
}

/** A socket that listens. */
export interface Listener {
  /** Its address. */
  readonly url: string;
  /** Answers what has begun and ends. */
  close(): Promise<void>;
}

const PORT = 8080;
const HOSTNAME = "127.0.0.1";
/** Wrong admin tokens that an address may show in a minute. */
const WRONG_TOKENS = 10;
const ADMIN_TOKEN_MIN = 8;
/** Requests that are still being answered get this long. */
const END_MS = 2_000;

/** Begins to listen. */
export async function listen(parts: ListenerParts): Promise<Listener> {
  const { options, service: { log } } = parts;
  const http = await createHttp(parts);
  const tls = await tlsOf(options);
  const hostname = options.hostname ?? HOSTNAME;
  const port = options.port ?? PORT;
  const server = await serve({
    hostname,
    port,
    tls,
    answer: http.answer,
    failed(error) {
      log.write("error", "request-failed", { message: messageOf(error) });
    },
  });
  const scheme = tls === undefined ? "http" : "https";
  return {
    url: `${scheme}://${shownHost(hostname)}:${server.port}`,
    close: () => server.close(END_MS),
  };
}

async function serve(options: HttpServerOptions): Promise<HttpServer> {
  try {
    return await serveHttp(options);
  } catch (cause) {
    const { hostname, port } = options;
    throw new DatabaseError(
      "invalid-option",
      `Cannot listen on ${hostname}:${port}: ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function createHttp(parts: ListenerParts): Promise<Http> {
  const { options, service } = parts;
  const { connections, log, login, metrics, tracing } = service;
  return new Http({
    origin: originCheck(checkOrigins(options.origins ?? [])),
    login,
    metrics,
    log,
    trustsProxy: options.trustProxy === true,
    isClosing: () => service.isClosing,
    health: () => service.health(),
    info: () => service.info(),
    upgrade: (request, address) => {
      const attributes = { "client.address": address };
      const answer = () => upgrade(request, address, connections);
      return tracing.span("sheaf.upgrade", attributes, answer);
    },
    admin: adminOf(parts),
    files: await filesOf(options),
  });
}

function adminOf({ options, actions, service: { log } }: ListenerParts) {
  const { adminToken: token } = options;
  if (token === undefined) return undefined;
  if (token.length < ADMIN_TOKEN_MIN) {
    throw new DatabaseError(
      "invalid-option",
      `\`adminToken\` takes ${ADMIN_TOKEN_MIN} characters or more`,
    );
  }
  const rate = perMinute(WRONG_TOKENS);
  const monotonic = () => system.monotonic();
  return adminRoutes({ token, actions, rate, log, monotonic });
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
  { static: folder, data, rootKeyFile, tls }: ServerOptions,
): Promise<StaticFiles | undefined> {
  if (folder === undefined) return undefined;
  const secrets = [data, rootKeyFile, tls?.key].filter((one) =>
    one !== undefined
  );
  const files = new StaticFiles(folder);
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

async function tlsOf(
  { tls }: ServerOptions,
): Promise<{ cert: string; key: string } | undefined> {
  if (tls === undefined) return undefined;
  try {
    const [cert, key] = await Promise.all([
      readFile(tls.cert, "utf8"),
      readFile(tls.key, "utf8"),
    ]);
    return { cert, key };
  } catch (cause) {
    throw new DatabaseError(
      "invalid-option",
      `\`tls\` names files that cannot be read: ${messageOf(cause)}`,
      { cause },
    );
  }
}

function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
