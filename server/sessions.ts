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
  readonly #books: Books;
  readonly #issuer: Issuer;
  readonly #days: number;
  readonly #now: () => number;

  /**
   * @param books where issued sessions stand
   * @param issuer who signs
   * @param days how long a certificate is good for
   * @param now milliseconds since 1970
   */
  constructor(books: Books, issuer: Issuer, days: number, now: () => number) {
    this.#books = books;
    this.#issuer = issuer;
    this.#days = days;
    this.#now = now;
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
    const { revocations } = this.#books;
    if (revocations.has(sessionKey)) {
      throw new HttpFault(403, "revoked", "This session was revoked");
    }
    this.#checkSame(sessionKey, user, claims, presented);
    const now = this.#now();
    const notAfter = Math.min(
      Math.floor(now + this.#days * DAY_MS),
      this.#issuer.notAfter,
      wallMax,
    );
    const { bytes } = issueCertificate(
      {
        sessionKey: fromHex(sessionKey),
        user,
        claims: canonicalJson(claims),
        mayIssue: false,
        notBefore: 0,
        notAfter,
      },
      this.#issuer.signer,
    );
    const expires = new Date(notAfter);
    await this.#remember(sessionKey, { user, claims, now, expires });
    const issuers = this.#issuer.certificates;
    return { certificate: bytes, issuers, user, expires };
  }

  #checkSame(
    sessionKey: string,
    user: string,
    claims: Claims,
    presented: Uint8Array | undefined,
  ): void {
    const known = this.#books.sessions.get(sessionKey) ??
      presentedSession(presented, sessionKey);
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
    const { sessions } = this.#books;
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
    const { sessions } = this.#books;
    if (sessions.has(sessionKey)) return;
    sessions.create({
      id: sessionKey,
      user,
      claims: JSON.parse(claims),
      issued: new Date(this.#now()),
      expires: new Date(notAfter),
    });
  }

  /** Session keys of a user. */
  keysOf(user: string): string[] {
    return this.#books.sessions.where({ user }).run().map(({ id }) => id);
  }
}

/** What a presented certificate says, if it is one for this key; only ever used to refuse. */
function presentedSession(
  presented: Uint8Array | undefined,
  sessionKey: string,
): { user: string; claims: unknown } | undefined {
  if (presented === undefined) return undefined;
  try {
    const certificate = decodeCertificate(presented);
    if (!equalBytes(certificate.sessionKey, fromHex(sessionKey))) {
      throw new SyntaxError(`it is for ${toHex(certificate.sessionKey)}`);
    }
    const { user, claims } = certificate;
    return { user, claims: JSON.parse(claims) };
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new HttpFault(
      400,
      "bad-request",
      "`certificate` is no certificate of this session key",
    );
  }
}
