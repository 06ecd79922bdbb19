/**
 * The listening socket: TLS, routes, and what becomes of them on close.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import { type AdminActions, adminRoutes } from "./admin.ts";
import { type Health, Http } from "./http.ts";
import { type Log, messageOf } from "./log.ts";
import { checkLoginOptions, createLogin, type Login } from "./login.ts";
import { LoginRoute } from "./login_route.ts";
import type { Metrics } from "./metrics.ts";
import type { Quotas, ServerOptions } from "./options.ts";
import { normalOrigin, originCheck } from "./origin.ts";
import { Buckets } from "./quotas.ts";
import type { Sessions } from "./sessions.ts";
import { StaticFiles } from "./static_files.ts";
import type { Tracing } from "./tracing.ts";

/** What a listener works with. */
export interface ListenerParts {
  readonly options: ServerOptions;
  readonly quotas: Quotas;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly actions: AdminActions;
  readonly upgrade: (request: Request, address: string) => Response;
  readonly isClosing: () => boolean;
  readonly health: () => Health;
  /** The root public key of the database. */
  readonly rootKey: Uint8Array;
  readonly info: (kinds: Login["kinds"]) => unknown;
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
const MINUTE_SECONDS = 60;
/** Wrong admin tokens that an address may show in a minute. */
const WRONG_TOKENS = 10;
const ADMIN_TOKEN_MIN = 8;
/** Requests that are still being answered get this long. */
const END_MS = 2_000;

/** Begins to listen. */
export async function listen(parts: ListenerParts): Promise<Listener> {
  const { options, log } = parts;
  const http = await createHttp(parts);
  const tls = await tlsOf(options);
  const hostname = options.hostname ?? HOSTNAME;
  const server = serve({
    hostname,
    port: options.port ?? PORT,
    ...tls,
    onListen() {},
    onError(error) {
      log.write("error", "request-failed", { message: messageOf(error) });
      return new Response(null, { status: 500 });
    },
  }, http.answer);
  const scheme = tls === undefined ? "http" : "https";
  return {
    url: `${scheme}://${shownHost(hostname)}:${server.addr.port}`,
    close: () => shutDown(server),
  };
}

type ServeOptions = Deno.ServeTcpOptions & Partial<Deno.TlsCertifiedKeyPem>;

function serve(
  options: ServeOptions,
  answer: Deno.ServeHandler<Deno.NetAddr>,
): Deno.HttpServer<Deno.NetAddr> {
  try {
    return Deno.serve(options, answer);
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
  const { options, quotas, metrics, log, tracing, sessions } = parts;
  checkLoginOptions(options.login ?? {});
  const login = createLogin(options.login ?? {}, system);
  const monotonic = () => system.monotonic();
  const rate = perMinute(quotas.loginsPerMinute);
  const route = new LoginRoute({
    login,
    sessions,
    rate,
    metrics,
    log,
    tracing,
    monotonic,
    now: () => system.now(),
    rootKey: parts.rootKey,
  });
  return new Http({
    origin: originCheck(checkOrigins(options.origins ?? [])),
    login: route,
    metrics,
    log,
    trustsProxy: options.trustProxy === true,
    isClosing: parts.isClosing,
    health: parts.health,
    info: () => parts.info(login.kinds),
    upgrade: parts.upgrade,
    admin: adminOf(parts),
    files: await filesOf(options),
  });
}

function adminOf({ options, actions, log }: ListenerParts) {
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

function perMinute(count: number): Buckets {
  return new Buckets({ perSecond: count / MINUTE_SECONDS, burst: count });
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
      Deno.readTextFile(tls.cert),
      Deno.readTextFile(tls.key),
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

async function shutDown(server: Deno.HttpServer): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, END_MS);
  });
  await Promise.race([server.shutdown(), late]);
  clearTimeout(timer);
}
