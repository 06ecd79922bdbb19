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
import { HttpFault, jsonResponse, readJson } from "./body.ts";
import type { Asked } from "./http.ts";
import type { Log } from "./log.ts";
import { isSecret } from "./login_tokens.ts";
import type { Buckets } from "./quotas.ts";
import { isRecord } from "./settings.ts";
import type { QuarantineEntry } from "./quarantine.ts";

/** What an administrator may do. */
export interface AdminActions {
  revoke(
    whom: { readonly sessionKey: string } | { readonly user: string },
    reason: string,
  ): Promise<{ sessions: readonly string[]; repositories: number }>;
  quarantine(): QuarantineEntry[];
  accept(id: string): Promise<number>;
  drop(id: string): Promise<void>;
  backup(folder: string): Promise<unknown>;
}

/** What the routes work with. */
export interface AdminParts {
  readonly token: string;
  readonly actions: AdminActions;
  readonly rate: Buckets;
  readonly log: Log;
  readonly monotonic: () => number;
}

type Action = (body: Record<string, unknown>) => Promise<unknown>;

/** Makes what answers `/admin`. */
export function adminRoutes(
  parts: AdminParts,
): (asked: Asked) => Promise<Response> {
  const { actions, log } = parts;
  const posts: Readonly<Record<string, Action>> = {
    "/admin/revoke": (body) => actions.revoke(whomOf(body), reasonOf(body)),
    "/admin/backup": (body) => actions.backup(textOf(body, "folder")),
    "/admin/quarantine/accept": async (body) => ({
      commits: await actions.accept(textOf(body, "id")),
    }),
    "/admin/quarantine/drop": async (body) => {
      await actions.drop(textOf(body, "id"));
      return {};
    },
  };
  return async ({ request, path, address }) => {
    checkToken(request, address, parts);
    if (request.method === "GET" && path === "/admin/quarantine") {
      return jsonResponse({ entries: actions.quarantine() });
    }
    const isKnown = request.method === "POST" && Object.hasOwn(posts, path);
    if (!isKnown) throw new HttpFault(404, "not-found", "No such action");
    const body = await readJson(request);
    if (!isRecord(body)) throw bad("The body must be a JSON object");
    const answer = await done(posts[path]!(body));
    log.write("info", "admin", { action: path, address });
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

function checkToken(
  request: Request,
  address: string,
  { token, rate, log, monotonic }: AdminParts,
): void {
  const shown = /^Bearer (.+)$/.exec(
    request.headers.get("authorization") ?? "",
  )?.[1];
  const nowMs = monotonic();
  if (rate.debt(address, nowMs) > 0) {
    throw new HttpFault(429, "rate-limited", "Too many wrong tokens");
  }
  if (shown !== undefined && isSecret(shown, token)) return;
  rate.take(address, 1, nowMs);
  log.write("warn", "admin-refused", { address });
  throw new HttpFault(401, "login-failed", "The admin token is wrong");
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

function whomOf(
  body: Record<string, unknown>,
): { sessionKey: string } | { user: string } {
  if (body["sessionKey"] !== undefined) {
    return { sessionKey: textOf(body, "sessionKey") };
  }
  return { user: textOf(body, "user") };
}
