/** `sheaf admin`: asks a running server over HTTP. */

import process from "node:process";
import type { QuarantineEntry } from "../../../server/quarantine.ts";
import { escapeControls } from "../output.ts";
import { Failure, usageFailure } from "../failure.ts";
import { formatAmount, formatBytes } from "../figures.ts";
import type { Context } from "../session.ts";
import { formatTable } from "../table.ts";

export interface AdminOptions {
  readonly url: string;
  readonly adminToken?: string;
  readonly json?: boolean;
  readonly key?: string;
  readonly user?: string;
  readonly reason?: string;
}

const titles = [
  "id",
  "repository",
  "user",
  "commits",
  "size",
  "at",
  "reason",
];
const TIMEOUT_MS = 60_000;

export async function runRevoke(
  { out }: Context,
  options: AdminOptions,
): Promise<void> {
  const { key, user, reason } = options;
  if ((key === undefined) === (user === undefined)) {
    throw usageFailure("Name either a session or a user", "--key or --user");
  }
  const body = { ...(key ? { sessionKey: key } : { user }), reason };
  const answer = await ask(options, "POST", "revoke", body);
  if (options.json) return out.line(JSON.stringify(answer));
  const { sessions = [], repositories = 0 } = answer;
  out.line(
    `revoked ${formatAmount(sessions.length, "session")}, recorded in ${
      formatAmount(repositories, "open repository", "open repositories")
    }`,
  );
  for (const session of sessions) out.line(`  ${escapeControls(session)}`);
  if (user === undefined) return;
  out.line(
    `other sessions of "${
      escapeControls(user)
    }" that have a certificate by now end when they appear`,
  );
}

export async function runQuarantine(
  { out }: Context,
  options: AdminOptions,
): Promise<void> {
  const { entries = [] } = await ask(options, "GET", "quarantine");
  if (options.json) return out.line(JSON.stringify(entries));
  if (entries.length === 0) return out.line("the quarantine is empty");
  const rows = entries.map((entry) => [
    entry.id,
    entry.repository,
    entry.user,
    String(entry.count),
    formatBytes(entry.bytes),
    entry.at,
    entry.reason,
  ]);
  const columns = titles.map((title) => ({ title }));
  out.print(formatTable(columns, rows, out.width));
}

export async function runAccept(
  { out }: Context,
  id: string,
  options: AdminOptions,
): Promise<void> {
  const answer = await ask(options, "POST", "quarantine/accept", { id });
  if (options.json) return out.line(JSON.stringify(answer));
  out.line(`accepted ${answer.commits ?? 0} commit(s)`);
}

export async function runDrop(
  { out }: Context,
  id: string,
  options: AdminOptions,
): Promise<void> {
  const answer = await ask(options, "POST", "quarantine/drop", { id });
  out.line(options.json ? JSON.stringify(answer) : "dropped");
}

interface Answer {
  readonly sessions?: readonly string[];
  readonly repositories?: number;
  readonly commits?: number;
  readonly entries?: readonly Entry[];
  readonly code?: string;
  readonly message?: string;
}

type Entry = Omit<QuarantineEntry, "at"> & { readonly at: string };

async function ask(
  { url, adminToken }: AdminOptions,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer> {
  const token = adminToken ?? process.env["SHEAF_ADMIN_TOKEN"];
  if (token === undefined) {
    throw usageFailure("Give the server's admin token", "--admin-token SECRET");
  }
  const base = url.replace(/^ws/, "http").replace(/\/+$/, "");
  let response: Response;
  try {
    response = await fetch(`${base}/admin/${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new Failure(
      "unreachable",
      `No answer from ${url}: ${(cause as Error).message}`,
      "is it running, and is --url right?",
    );
  }
  const answer = await readAnswer(response);
  if (response.ok) return answer;
  throw new Failure(
    answer.code ?? `http-${response.status}`,
    answer.message ?? "The server refused",
  );
}

async function readAnswer(response: Response): Promise<Answer> {
  try {
    return await response.json();
  } catch {
    return {};
  }
}
