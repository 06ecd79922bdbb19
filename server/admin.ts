/**
 * `/admin`: revoking, quarantine and backup over HTTP, for who shows the admin
 * token.
 *
 * Architecture invariant: the token is compared in constant time, wrong ones
 * are counted against the address that showed them, and both are logged.
 *
 * @module
 */

import { DatabaseError } from "../src/base/errors.ts";
import { system } from "../src/base/system.ts";
import type { EmbeddedServer, Whom } from "./api.ts";
import {
  type Asked,
  HttpFault,
  isRecord,
  jsonResponse,
  readJson,
} from "./body.ts";
import type { Log } from "./log.ts";
import { isSecret } from "./login.ts";
import type { Buckets } from "./quotas.ts";

/** What an administrator may do, and where it is logged. */
export type Administered =
  & Pick<
    EmbeddedServer,
    "revoke" | "quarantine" | "accept" | "drop" | "backup"
  >
  & { readonly log: Log };

type Action = (body: Record<string, unknown>) => Promise<unknown>;

/** Makes what answers `/admin`. */
export function adminRoutes(
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

/** Administrators are told what was wrong. */
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
