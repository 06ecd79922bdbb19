/**
 * Sessions: certificates for keys whose owners logged in.
 *
 * Architecture invariant: one key, one user, one set of claims, for ever: a key
 * that is known for somebody else gets nothing, so that whose a commit is never
 * depends on the moment. A revoked key is never certified again.
 *
 * Books may be lost, or be set back to a backup. So what certificates in
 * repositories say of keys is learned from each that is opened; a key that turns
 * out to stand for two is over.
 */

import type { Signer } from "../crypto/mod.ts";
import { equalBytes, fromHex, toHex } from "../src/base/bytes.ts";
import { DatabaseError } from "../src/base/errors.ts";
import { wallMax } from "../src/base/hlc.ts";
import type { Certificate, Certificates } from "../repo/commit/certificate.ts";
import { nameOf } from "../repo/commit/commit.ts";
import {
  decodeCertificate,
  issueCertificate,
  type Replica,
} from "../repo/mod.ts";
import { HttpFault } from "./body.ts";
import type { Books } from "./books.ts";
import { canonicalJson } from "./login.ts";
import type { RevocationList } from "./revocations.ts";
import type { Claims, LoggedIn } from "./login_options.ts";
import { checkIssued } from "../repo/admission/signature_check.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Who certifies sessions here. */
export interface Issuer {
  readonly signer: Signer;
  /** Its own certificate and its issuers', up to the root; none for the root itself. */
  readonly certificates: readonly Uint8Array[];
  readonly notAfter: number;
}

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

export interface SessionParts {
  readonly books: Books;
  readonly issuer: Issuer;
  readonly rootKey: Uint8Array;
  readonly days: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly revocations: Pick<RevocationList, "has" | "ends" | "end">;
}

/** Whose a key is. */
export type KeyOwner = Pick<Certificate, "user" | "claims" | "notAfter">;

export class Sessions {
  readonly #parts: SessionParts;

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
    if (known === undefined || isSame(known, { user, claims })) return;
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

  /**
   * Remembers whose a key is, as a certificate says that somebody signed who
   * may. One that is known to be somebody else's is over: nobody could say whose
   * its commits are.
   */
  learn(sessionKey: string, { user, claims: text, notAfter }: KeyOwner): void {
    const { books: { sessions }, revocations } = this.#parts;
    const known = sessions.get(sessionKey);
    if (known?.user === user && canonicalJson(known.claims) === text) return;
    const claims = JSON.parse(text);
    if (known !== undefined) {
      if (!isSame(known, { user, claims })) revocations.end(sessionKey, TWO);
      return;
    }
    const issued = new Date(this.#parts.now());
    const expires = new Date(notAfter);
    sessions.create({ id: sessionKey, user, claims, issued, expires });
  }

  /** Learns from the certificates of a repository that was just opened; the result, from those since. */
  follow({ loaded: { credentials: { certificates } } }: Replica): () => void {
    let seen = 0;
    return () => {
      const fresh = certificates.since(seen);
      seen = certificates.size;
      for (const one of fresh) this.#learnFrom(one, certificates);
    };
  }

  /** The door refused a certificate: another one may stand for its key there. */
  refused(
    { loaded: { credentials: { certificates } } }: Replica,
    bytes: Uint8Array,
  ): void {
    const certificate = decodeCertificate(bytes);
    const { rootKey } = this.#parts;
    if (checkIssued(certificate, rootKey, certificates) !== undefined) return;
    this.#learnFrom(certificate, certificates);
  }

  #learnFrom(certificate: Certificate, known: Certificates): void {
    // What a server may do is not for a login to say.
    if (certificate.mayIssue || !this.#isGood(certificate, known)) return;
    try {
      this.learn(toHex(certificate.sessionKey), certificate);
    } catch (error) {
      // Books that cannot be written are told of where they failed.
      if (!(error instanceof DatabaseError)) throw error;
    }
  }

  /** Was nobody revoked who vouches for it? Whoever stole a server's key could end everybody. */
  #isGood(
    { issuerKey }: Certificate,
    known: Certificates,
    asked = new Set<string>(),
  ): boolean {
    const { revocations, rootKey } = this.#parts;
    const key = toHex(issuerKey);
    if (equalBytes(issuerKey, rootKey)) return true;
    if (revocations.has(key) || asked.has(key)) return false;
    asked.add(key);
    return known.of(nameOf(issuerKey, 0, issuerKey.length))
      .some((own) => this.#isGood(own, known, asked));
  }
}

const TWO = "Its key stands for two users, or for two sets of claims";

function isSame(
  known: Pick<LoggedIn, "user"> & { readonly claims: unknown },
  { user, claims }: LoggedIn,
): boolean {
  return known.user === user &&
    canonicalJson(known.claims) === canonicalJson(claims);
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
