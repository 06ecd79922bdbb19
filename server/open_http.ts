/**
 * Making the routes of a server out of its options.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import { type AdminActions, adminRoutes } from "./admin.ts";
import { Http } from "./http.ts";
import type { ServerOptions } from "./options.ts";
import { normalOrigin, originCheck } from "./origin.ts";
import { perMinute } from "./quotas.ts";
import type { Service } from "./service.ts";
import { StaticFiles } from "./static_files.ts";
import { upgrade } from "./upgrade.ts";

/** What the routes are made of. */
export interface OpenHttpParts {
  readonly options: ServerOptions;
  readonly service: Service;
  readonly actions: AdminActions;
}

/** Wrong admin tokens that an address may show in a minute. */
const WRONG_TOKENS = 10;
const ADMIN_TOKEN_MIN = 8;
/** Segments that no browser and no proxy changes on the way. */
const PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*$/;

/** Makes the routes; rejects with `invalid-option`. */
export async function openHttp(parts: OpenHttpParts): Promise<Http> {
  const { options, service } = parts;
  const { connections, log, login, metrics, tracing } = service;
  return new Http({
    base: baseOf(options.path ?? "/"),
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

function adminOf({ options, actions, service: { log } }: OpenHttpParts) {
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

/** The path without a slash at its end. */
function baseOf(path: string): string {
  const base = typeof path === "string" ? path.replace(/\/$/, "") : "?";
  if (PATH.test(base)) return base;
  throw new DatabaseError(
    "invalid-option",
    `\`path\` is ${JSON.stringify(path)}: it begins with "/", as "/api/sheaf"`,
  );
}
