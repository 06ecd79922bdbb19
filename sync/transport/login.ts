/**
 * Asking a server for a certificate, and who it is.
 *
 * Architecture invariant: an answer is read up to a bound and checked for its
 * form; what it says of the server is only worth what the caller knows of the
 * address (law 10).
 */

import { fromHex, toHex } from "../../src/base/bytes.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { loginMessage } from "../login_proof.ts";
import { httpUrl } from "./websocket_client.ts";

/** What a server says of itself to anybody. */
export interface ServerInfo {
  /** Wire version. */
  readonly protocol: number;
  readonly name: string;
  /** The root public key of its database, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** Mode of its repositories. */
  readonly mode: string;
  /** Kinds of credentials that it takes. */
  readonly login: readonly string[];
}

/** What a login asks for. */
export interface LoginQuestion {
  /** The public key that the certificate is for, 32 bytes. */
  readonly sessionKey: Uint8Array;
  /** What the user shows: an object of the guide's page on sessions. */
  readonly credentials: unknown;
  /** The certificate that the key has already. */
  readonly certificate?: Uint8Array;
  /** The root public key of the database, 32 bytes. */
  readonly rootKey: Uint8Array;
  /** This device's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Signs with the session key: who asks must own it. */
  sign(message: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/** What a login gives. */
export interface Certified {
  readonly certificate: Uint8Array;
  /** The certificates of its issuers up to the root, where that is not the root itself. */
  readonly issuers: Uint8Array[];
}

/** The key has another user or other claims already: a new key is needed. */
export type KeyTaken = "key-taken";

/**
 * Asks a server who it is.
 *
 * @throws {DatabaseError} `unreachable` when it does not answer, or not like a server
 */
export async function serverInfo(
  address: string | URL,
  signal?: AbortSignal,
): Promise<ServerInfo> {
  const { status, body } = await ask(at(address, "sheaf"), {}, signal);
  const { protocol, name, rootKey, mode, login } = body;
  const key = bytesOf(rootKey);
  const isInfo = status === 200 && typeof protocol === "number" &&
    typeof name === "string" && typeof mode === "string" &&
    Array.isArray(login) && key?.length === 32;
  if (!isInfo) {
    throw unreachable(address, `it is no Sheaf server (status ${status})`);
  }
  return { protocol, name, rootKey: key, mode, login: login.map(String) };
}

/**
 * Logs in at a server, as often as the result is called. Where the server
 * finds this device's clock wrong, the login is signed again, once, with the
 * server's time: it says nothing about any commit.
 *
 * It rejects with a `DatabaseError`: `login-failed` when the server says no,
 * `unreachable` when it cannot be asked now.
 */
export function loginTo(
  address: string | URL,
): (
  question: LoginQuestion,
  signal?: AbortSignal,
) => Promise<Certified | KeyTaken> {
  const url = at(address, "login");
  return async (question, signal) => {
    let answer = await post(url, question, question.nowMs, signal);
    const serverMs = clockOf(answer);
    if (serverMs !== undefined) {
      answer = await post(url, question, serverMs, signal);
    }
    const { status, body } = answer;
    if (status === 200) return certifiedOf(url, body);
    if (status === 409) return "key-taken";
    throw failure(url, status, body);
  };
}

async function post(
  url: URL,
  question: LoginQuestion,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const { sessionKey, rootKey, certificate } = question;
  // What is signed is this very text; it travels as a string.
  const credentials = JSON.stringify(question.credentials);
  const atMs = Math.min(Math.max(Math.round(nowMs), 0), wallMax);
  const message = loginMessage({ rootKey, sessionKey, atMs, credentials });
  const proof = toHex(await question.sign(message));
  return ask(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      rootKey: toHex(rootKey),
      sessionKey: toHex(sessionKey),
      credentials,
      ...(certificate && { certificate: toHex(certificate) }),
      at: atMs,
      proof,
    }),
  }, signal);
}

/** The server's time, where it found ours wrong. */
function clockOf({ status, body: { code, now } }: Answer): number | undefined {
  const isTold = status === 400 && code === "bad-clock";
  return isTold && typeof now === "number" ? now : undefined;
}

function certifiedOf(url: URL, body: Answer["body"]): Certified {
  const certificate = bytesOf(body.certificate);
  const list = Array.isArray(body.issuers) ? body.issuers : [];
  const issuers = list.slice(0, limits.certificatesMax).map(bytesOf);
  if (certificate === undefined || issuers.includes(undefined)) {
    throw unreachable(url, "its answer holds no certificate");
  }
  return { certificate, issuers: issuers as Uint8Array[] };
}

function failure(
  url: URL,
  status: number,
  { code, message }: Answer["body"],
): DatabaseError {
  const reason = status === 404
    ? `there is no login at ${url}`
    : typeof message === "string"
    ? message
    : `status ${status}`;
  if (status === 429 || status >= 500) return unreachable(url, reason);
  // The server's own words, or its app's: pages show them to who signs in.
  if (code === "root-key-mismatch" || code === "login-failed") {
    return new DatabaseError(code, reason.slice(0, 500));
  }
  const name = typeof code === "string" ? ` (${code})` : "";
  return new DatabaseError(
    "login-failed",
    `The server gave no certificate: ${reason.slice(0, 500)}${
      name.slice(0, 60)
    }`,
  );
}

/** The address of something that a server answers, whatever path it syncs at. */
function at(address: string | URL, name: string): URL {
  const url = httpUrl(address);
  url.pathname = url.pathname.replace(/(?:\/sync)?\/?$/, `/${name}`);
  url.search = "";
  return url;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(
  url: URL,
  init: RequestInit,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const late = AbortSignal.timeout(limits.loginMsMax);
  try {
    const response = await fetch(url, {
      ...init,
      redirect: "error",
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    });
    const text = await textOf(response);
    return { status: response.status, body: objectOf(text) };
  } catch (cause) {
    const reason = late.aborted
      ? `it did not answer within ${limits.loginMsMax} ms`
      : messageOf(cause) + foreignOf(url);
    throw unreachable(url, reason, cause);
  }
}

/** A page is not told whether a server of elsewhere is away, or does not let it in. */
function foreignOf({ origin }: URL): string {
  const { location } = globalThis as {
    readonly location?: { readonly origin: string };
  };
  const here = location?.origin;
  return here === undefined || here === origin
    ? ""
    : `. Is it running, and do its \`origins\` name ${here}?`;
}

/** Platforms say "fetch failed", and only in the cause why. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const part of response.body ?? []) {
    length += part.length;
    if (length > limits.loginBytesMax) {
      throw new RangeError("its answer is too long");
    }
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

/** The object that a text holds; none is an empty one: a status says enough. */
function objectOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null;
    return isObject ? value as Record<string, unknown> : {};
  } catch {
    return {};
  }
}

function bytesOf(hex: unknown): Uint8Array | undefined {
  try {
    return typeof hex === "string" && hex !== "" ? fromHex(hex) : undefined;
  } catch {
    return undefined;
  }
}

function unreachable(
  address: string | URL,
  reason: string,
  cause?: unknown,
): DatabaseError {
  return new DatabaseError(
    "unreachable",
    `Cannot reach the server at ${address}: ${reason.slice(0, 500)}`,
    { cause },
  );
}
