/**
 * Logging in over the virtual network: what a client asks of a server over
 * HTTP, without sockets.
 *
 * @module
 */

import { DatabaseError } from "../../src/base/errors.ts";
import { fromHex, toHex } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import type { LoginAnswer, LoginRequest } from "../../src/db/login.ts";
import { loginMessage } from "../../sync/login_proof.ts";
import type { Answer, Link, Network } from "./network.ts";

/** Who asks, over which link. */
export interface LoginPlace {
  readonly network: Network;
  readonly link: Link;
  /** Is who asks gone? Then nothing is ever answered. */
  readonly isDead: () => boolean;
}

/**
 * Asks for a certificate. Where the server finds this clock wrong, it signs
 * again with the server's time, as a client over HTTP does.
 */
export async function loginOver(
  place: LoginPlace,
  question: LoginRequest,
): Promise<LoginAnswer | "key-taken"> {
  let answer = await post(place, question, question.nowMs);
  if (answer.status === 400 && answer.body.code === "bad-clock") {
    answer = await post(place, question, answer.body.now as number);
  }
  const { status, body } = answer;
  if (status === 200) {
    const issuers = (body.issuers as string[]).map((hex) => fromHex(hex));
    return { certificate: fromHex(body.certificate as string), issuers };
  }
  if (status === 409) return "key-taken";
  const isPassing = status === 429 || status >= 500;
  throw new DatabaseError(
    isPassing ? "unreachable" : "login-failed",
    `The server gave no certificate: ${body.message}`,
  );
}

async function post(
  { network, link, isDead }: LoginPlace,
  { sessionKey, rootKey, certificate, credentials, sign }: LoginRequest,
  nowMs: number,
): Promise<Answer> {
  const text = JSON.stringify(credentials);
  const atMs = Math.max(Math.round(nowMs), 0);
  const statement = { rootKey, sessionKey, atMs, credentials: text };
  const body = JSON.stringify({
    rootKey: toHex(rootKey),
    sessionKey: toHex(sessionKey),
    credentials: text,
    ...(certificate && { certificate: toHex(certificate) }),
    at: atMs,
    proof: toHex(await sign(loginMessage(statement))),
  });
  return await network.ask(link, body, limits.loginMsMax, isDead);
}
