/**
 * Sessions: certificates for keys whose owners logged in.
 *
 * Architecture invariant: one key, one user, one set of claims, for ever: a key
 * that is known for somebody else gets nothing, so that whose a commit is never
 * depends on the moment. A revoked key is never certified again.
 *
 * @module
 */

import type { Signer } from "../crypto/mod.ts";
import { isWeakKey } from "../crypto/mod.ts";
import { equalBytes, fromHex, toHex } from "../src/base/bytes.ts";
import { wallMax } from "../src/base/hlc.ts";
import { decodeCertificate, issueCertificate } from "../repo/mod.ts";
import { HttpFault } from "./body.ts";
import type { Books } from "./books.ts";
import { canonicalJson, type Claims, type LoggedIn } from "./login.ts";
import type { RevocationList } from "./revocations.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const KEY = /^[0-9a-f]{64}$/;

/** Who certifies sessions here. */
export interface Issuer {
  readonly signer: Signer;
  /** Its own certificate and its issuers', up to the root; none for the root itself. */
  readonly certificates: readonly Uint8Array[];
  /** Last moment it may certify for. */
  readonly notAfter: number;
}

/** What a client gets. */
export interface IssuedCertificate {
  readonly certificate: Uint8Array;
  readonly issuers: readonly Uint8Array[];
  readonly user: string;
  readonly expires: Date;
}

/** The last moment that a certificate which an issuer gives now is good for, milliseconds since 1970. */
export function lastEnd(
  { notAfter }: Pick<Issuer, "notAfter">,
  days: number,
  nowMs: number,
): number {
  return Math.min(Math.floor(nowMs + days * DAY_MS), notAfter, wallMax);
}

/** What certifying works with. */
export interface SessionParts {
  /** Where issued sessions stand. */
  readonly books: Books;
  readonly issuer: Issuer;
  /** How long a certificate is good for. */
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Who is certified no more. */
  readonly revocations: Pick<RevocationList, "has" | "ends">;
}

/** Reads a session's public key as clients write it. */
export function parseSessionKey(value: unknown): string {
  const key = typeof value === "string" ? value.toLowerCase() : "";
  if (!KEY.test(key) || isWeakKey(fromHex(key))) {
    throw new HttpFault(
      400,
      "bad-request",
      "`sessionKey` must be an Ed25519 public key of 64 hexadecimal digits",
    );
  }
  return key;
}

/** Issues certificates and remembers for whom. */
export class Sessions {
  readonly #parts: SessionParts;

  /** @param parts what it works with */
  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /**
   * Certifies a key for a user, or renews it.
   *
   * @param sessionKey hexadecimal
   * @param presented a certificate that the client has already
   * @throws {HttpFault} `revoked`, `key-taken`
   */
  async issue(
    sessionKey: string,
    { user, claims }: LoggedIn,
    presented?: Uint8Array,
  ): Promise<IssuedCertificate> {
    const { issuer, days } = this.#parts;
    const before = presentedSession(presented, sessionKey);
    this.#checkRevoked(sessionKey, before);
    this.#checkSame(sessionKey, user, claims, before);
    const now = this.#parts.now();
    const notAfter = lastEnd(issuer, days, now);
    const { bytes } = issueCertificate(
      {
        sessionKey: fromHex(sessionKey),
        user,
        claims: canonicalJson(claims),
        mayIssue: false,
        notBefore: 0,
        notAfter,
      },
      issuer.signer,
    );
    const expires = new Date(notAfter);
    await this.#remember(sessionKey, { user, claims, now, expires });
    const issuers = issuer.certificates;
    return { certificate: bytes, issuers, user, expires };
  }

  /** A key whose certificate was ended with its user's name is not renewed either. */
  #checkRevoked(sessionKey: string, before: Presented | undefined): void {
    const { revocations } = this.#parts;
    const isRevoked = before === undefined
      ? revocations.has(sessionKey)
      : revocations.ends({ sessionKey, ...before });
    if (!isRevoked) return;
    throw new HttpFault(403, "revoked", "This session was revoked");
  }

  #checkSame(
    sessionKey: string,
    user: string,
    claims: Claims,
    before: Presented | undefined,
  ): void {
    const known = this.#parts.books.sessions.get(sessionKey) ?? before;
    if (known === undefined) return;
    const isSame = known.user === user &&
      canonicalJson(known.claims) === canonicalJson(claims);
    if (isSame) return;
    throw new HttpFault(
      409,
      "key-taken",
      "This session key stands for another user or other claims: make a new key and log in again",
    );
  }

  async #remember(
    sessionKey: string,
    { user, claims, now, expires }: LoggedIn & { now: number; expires: Date },
  ): Promise<void> {
    const { sessions } = this.#parts.books;
    if (sessions.has(sessionKey)) {
      await sessions.update(sessionKey, { expires });
      return;
    }
    const issued = new Date(now);
    await sessions.create({ id: sessionKey, user, claims, issued, expires });
  }

  /** Remembers a session that proved itself with a certificate of ours that is not in the books: they may have been lost. */
  learn(
    sessionKey: string,
    user: string,
    claims: string,
    notAfter: number,
  ): void {
    const { sessions } = this.#parts.books;
    if (sessions.has(sessionKey)) return;
    sessions.create({
      id: sessionKey,
      user,
      claims: JSON.parse(claims),
      issued: new Date(this.#parts.now()),
      expires: new Date(notAfter),
    });
  }
}

/** What a certificate says that a client has already: not checked, only ever used to refuse. */
interface Presented {
  readonly user: string;
  readonly claims: unknown;
  readonly notAfter: number;
}

function presentedSession(
  presented: Uint8Array | undefined,
  sessionKey: string,
): Presented | undefined {
  if (presented === undefined) return undefined;
  try {
    const certificate = decodeCertificate(presented);
    if (!equalBytes(certificate.sessionKey, fromHex(sessionKey))) {
      throw new SyntaxError(`it is for ${toHex(certificate.sessionKey)}`);
    }
    const { user, claims, notAfter } = certificate;
    return { user, claims: JSON.parse(claims), notAfter };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new HttpFault(
      400,
      "bad-request",
      "`certificate` is no certificate of this session key",
    );
  }
}
