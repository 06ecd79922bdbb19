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
import { createSigner, generateKeyPair } from "../crypto/mod.ts";
import { loginMessage, type LoginStatement } from "../sync/login_proof.ts";

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

/** Key pairs of {@linkcode newSessionKey}, by public key. */
const secrets = new Map<string, Uint8Array>();

/** The public key of a new session, in hexadecimal. */
export function newSessionKey(): string {
  const pair = generateKeyPair((target) =>
    void crypto.getRandomValues(target as Uint8Array<ArrayBuffer>)
  );
  const key = pair.publicKey.toHex();
  secrets.set(key, pair.secretKey);
  return key;
}

/** Lets a session log in by hand that was made elsewhere; its key in hexadecimal. */
export function knowKey(sessionKey: string, secretKey: Uint8Array): void {
  secrets.set(sessionKey, secretKey);
}

/** What a login by hand says; `signedBy` and `signs` make a forged one. */
export interface HandLogin {
  /** Of {@linkcode newSessionKey}. */
  readonly sessionKey: string;
  readonly credentials?: unknown;
  readonly certificate?: string | undefined;
  readonly at?: number;
  readonly signedBy?: string;
  readonly signs?: Partial<LoginStatement>;
}

/** The body of a login, with its proof. */
export function loginBody(
  rootKey: Uint8Array,
  { sessionKey, certificate, at = Date.now(), ...rest }: HandLogin,
): Record<string, unknown> {
  const { signedBy = sessionKey, signs = {} } = rest;
  const credentials = JSON.stringify(rest.credentials ?? { anonymous: true });
  const message = loginMessage({
    rootKey,
    sessionKey: Uint8Array.fromHex(sessionKey),
    atMs: at,
    credentials,
    ...signs,
  });
  const proof = createSigner(secrets.get(signedBy)!).sign(message).toHex();
  const root = rootKey.toHex();
  return { rootKey: root, sessionKey, credentials, certificate, at, proof };
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
