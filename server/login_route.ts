/**
 * `POST /login`: credentials in, a session certificate out.
 *
 * The client signs with the session key, so that nobody has another's key
 * certified for himself.
 *
 * Architecture invariant: asked at most so often by one address, bounded in
 * size and time, and nothing of the credentials is ever logged.
 */

import { verify } from "../crypto/mod.ts";
import { loginMessage } from "../sync/login_proof.ts";
import { equalBytes, fromHex, toHex } from "../src/base/bytes.ts";
import { wallMax } from "../src/base/hlc.ts";
import { limits } from "../src/base/limits.ts";
import type { World } from "../src/base/world.ts";
import { HttpFault, jsonResponse, parseSessionKey, readJson } from "./body.ts";
import { type Log, messageOf } from "./log.ts";
import { type Login, parseCredentials } from "./login.ts";
import type { Metrics } from "./metrics.ts";
import type { Buckets } from "./quotas.ts";
import type { Sessions } from "./sessions.ts";
import type { Tracing } from "./tracing.ts";
import type { Credentials, LoggedIn, LoginRefusal } from "./login_options.ts";

export interface LoginParts {
  readonly login: Login;
  readonly sessions: Sessions;
  readonly rate: Buckets;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly tracing: Tracing;
  readonly world: World;
  readonly rootKey: Uint8Array;
}

interface LoginRequest {
  readonly rootKey: Uint8Array;
  readonly sessionKey: string;
  readonly credentials: Credentials;
  readonly certificate: Uint8Array | undefined;
  /** The credentials as they were sent. */
  readonly text: string;
  /** When the client signed, by its own clock. */
  readonly at: number;
  readonly proof: Uint8Array;
}

const KEYS = [
  "rootKey",
  "sessionKey",
  "credentials",
  "certificate",
  "at",
  "proof",
];
const HEX = /^(?:[0-9a-f]{2})+$/i;

export class LoginRoute {
  readonly #parts: LoginParts;

  constructor(parts: LoginParts) {
    this.#parts = parts;
  }

  get kinds(): Login["kinds"] {
    return this.#parts.login.kinds;
  }

  answer(request: Request, address: string): Promise<Response> {
    return this.#parts.tracing.span(
      "sheaf.login",
      { "client.address": address },
      () => this.#answer(request, address),
    );
  }

  async #answer(request: Request, address: string): Promise<Response> {
    const { metrics, rate, world } = this.#parts;
    if (!rate.tryTake(address, 1, world.monotonic())) {
      metrics.login("any", "rate-limited");
      throw new HttpFault(429, "rate-limited", "Too many logins: wait a while");
    }
    const asked = parseRequest(await readJson(request));
    const { kind } = asked.credentials;
    try {
      const issued = await this.#issue(asked, request);
      metrics.login(kind, "ok");
      const { certificate, user, expires, issuers } = issued;
      return jsonResponse({
        certificate: toHex(certificate),
        user,
        expires: expires.toISOString(),
        issuers: issuers.map((bytes) => toHex(bytes)),
      });
    } catch (error) {
      throw this.#failed(error, kind, address, asked.sessionKey);
    }
  }

  async #issue(asked: LoginRequest, request: Request) {
    const { login, sessions, world } = this.#parts;
    this.#checkRoot(asked);
    this.#checkProof(asked);
    const { credentials, sessionKey, certificate } = asked;
    const answer = await withinTime(
      login.of(credentials, sessionKey, request),
      world,
    );
    if ("refused" in answer) {
      throw new HttpFault(401, "login-failed", answer.refused);
    }
    return await sessions.issue(sessionKey, answer, certificate);
  }

  /** Two databases with two root keys can never be one. */
  #checkRoot({ rootKey }: LoginRequest): void {
    if (equalBytes(rootKey, this.#parts.rootKey)) return;
    throw new HttpFault(
      400,
      "root-key-mismatch",
      "The server has another root key than this client expects: check the address, and the root key that the server prints",
    );
  }

  /** The owner of the key asks for this, with these credentials, now. */
  #checkProof({ sessionKey, text, at, proof }: LoginRequest): void {
    const now = this.#parts.world.now();
    if (Math.abs(at - now) > limits.loginClockMsMax) {
      throw new HttpFault(
        400,
        "bad-clock",
        "`at` is too far from the server's clock: sign again with `now`",
        { now },
      );
    }
    const key = fromHex(sessionKey);
    const { rootKey } = this.#parts;
    const statement = { rootKey, sessionKey: key, atMs: at, credentials: text };
    if (verify(proof, loginMessage(statement), key)) return;
    throw new HttpFault(
      401,
      "bad-proof",
      "`proof` is no signature by the session key over this login",
    );
  }

  /** A refusal is told as it is; of a failure of ours only that there was one. */
  #failed(
    error: unknown,
    kind: string,
    address: string,
    sessionKey: string,
  ): HttpFault {
    const { metrics, log } = this.#parts;
    const isRefusal = error instanceof HttpFault;
    // A wrong clock is no guess at a password: the client signs again.
    const isClock = isRefusal && error.code === "bad-clock";
    const result = isClock ? "bad-clock" : isRefusal ? "refused" : "failed";
    metrics.login(kind, result);
    log.tellOf(address, isRefusal ? "info" : "error", "login-refused", {
      kind,
      sessionKey,
      code: isRefusal ? error.code : "unavailable",
      message: messageOf(error),
    });
    if (isRefusal) return error;
    return new HttpFault(503, "unavailable", "Logging in is not possible now");
  }
}

/** An identity provider or an app's function may hang. */
async function withinTime(
  answer: Promise<LoggedIn | LoginRefusal>,
  world: World,
): Promise<LoggedIn | LoginRefusal> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error("The login took too long"));
    cancel = world.after(limits.httpBodyMsMax, fail);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    cancel();
  }
}

function parseRequest(value: unknown): LoginRequest {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest("The body must be a JSON object");
  }
  const unknown = Object.keys(value).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw badRequest(`The body has an unknown key ${JSON.stringify(unknown)}`);
  }
  const fields = value as Record<string, unknown>;
  const sessionKey = parseSessionKey(fields["sessionKey"]);
  try {
    const text = parseText(fields["credentials"]);
    return {
      rootKey: parseBytes("rootKey", fields["rootKey"], 32),
      sessionKey,
      credentials: parseCredentials(parseJson(text)),
      certificate: parseCertificate(fields["certificate"]),
      text,
      at: parseTime(fields["at"]),
      proof: parseBytes("proof", fields["proof"], 64),
    };
  } catch (error) {
    if (error instanceof SyntaxError) throw badRequest(error.message);
    throw error;
  }
}

/** The text is what the proof is over: it is hashed as it came. */
function parseText(value: unknown): string {
  if (typeof value === "string" && value.isWellFormed()) return value;
  throw new SyntaxError(
    "`credentials` must be JSON in a string: the text that `proof` signs",
  );
}

/** Its error would quote what is secret. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError("`credentials` must be a string that holds JSON");
  }
}

function parseTime(value: unknown): number {
  const isTime = typeof value === "number" && Number.isInteger(value) &&
    value >= 0 && value <= wallMax;
  if (isTime) return value;
  throw new SyntaxError("`at` must be milliseconds since 1970");
}

function parseBytes(name: string, value: unknown, length: number): Uint8Array {
  const isHex = typeof value === "string" && HEX.test(value);
  if (isHex && value.length === 2 * length) return fromHex(value.toLowerCase());
  throw new SyntaxError(`\`${name}\` must be ${length} bytes in hexadecimal`);
}

function parseCertificate(value: unknown): Uint8Array | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && HEX.test(value)) {
    return fromHex(value.toLowerCase());
  }
  throw new SyntaxError("`certificate` must be hexadecimal");
}

function badRequest(message: string): HttpFault {
  return new HttpFault(400, "bad-request", message);
}
