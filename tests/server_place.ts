/**
 * A real server on 127.0.0.1 for tests, and what it logged.
 *
 * @module
 */

import { memoryStorage } from "../mod.ts";
import {
  createServer,
  type LogRecord,
  type Server,
  type ServerOptions,
} from "../server/mod.ts";
import { generateKeyPair } from "../crypto/mod.ts";

/** A token that the server of {@linkcode withServer} knows: of user "ann". */
export const ANN = "the token of ann";
/** Of user "bob". */
export const BOB = "the token of bob";
/** What administrators show. */
export const ADMIN = "the token of admins";

/** A server and its log. */
export interface Place {
  readonly server: Server;
  readonly records: LogRecord[];
  /** Asks the server over HTTP. */
  ask(path: string, init?: RequestInit): Promise<Response>;
}

/** Options that tests share; a server in memory where nothing else is said. */
export function serverOptions(
  options: ServerOptions,
  records: LogRecord[],
): ServerOptions {
  const medium = options.data === undefined
    ? { storage: options.storage ?? memoryStorage() }
    : {};
  return {
    port: 0,
    login: {
      anonymous: true,
      tokens: { [ANN]: { user: "ann" }, [BOB]: { user: "bob" } },
    },
    adminToken: ADMIN,
    drainMs: 1_000,
    log: (record) => records.push(record),
    logLevel: "debug",
    ...options,
    ...medium,
  };
}

/** Runs `work` with a server that is closed afterwards. */
export async function withServer(
  options: ServerOptions,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const records: LogRecord[] = [];
  await using server = await createServer(serverOptions(options, records));
  const ask = (path: string, init?: RequestInit) =>
    fetch(`${server.url}${path}`, init);
  await work({ server, records, ask });
}

/** The public key of a new session, in hexadecimal. */
export function newSessionKey(): string {
  const pair = generateKeyPair((target) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>)
  );
  return pair.publicKey.toHex();
}

/** Posts JSON. */
export function post(
  body: unknown,
  headers: Record<string, string> = {},
): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  };
}

/** The header of an administrator. */
export const asAdmin = { authorization: `Bearer ${ADMIN}` };
