/**
 * The session of a database: its key, its certificate, and how both are had,
 * renewed and replaced while repositories are open.
 *
 * Architecture invariant: one session key has one user and one set of claims.
 * A certificate that says otherwise belongs to a new key.
 *
 * @module
 */

import { equalBytes } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import {
  type Certificate,
  decodeCertificate,
  type Replica,
  type Session,
} from "../../repo/mod.ts";
import type { Prover } from "../../sync/conversation.ts";
import type { Keyring } from "./keyring.ts";
import {
  type Credentials,
  credentialsOf,
  type CredentialsSource,
  type Login,
  type LoginAnswer,
  type LoginRequest,
  renewalAt,
} from "./login.ts";
import type { SessionKey } from "./session_key.ts";

/** What it works with. */
export interface SessionKeeperParts {
  readonly keyring: Keyring;
  readonly world: World;
  /** The repositories that sign with it. */
  readonly replicas: () => Iterable<Replica>;
}

/** Keeps the session of one database. */
export class SessionKeeper {
  readonly #parts: SessionKeeperParts;
  #session: Session;
  #certificate: Certificate | undefined;
  #storing: Promise<unknown> | undefined;
  /** When it was had, where that was by us. */
  #obtainedAt: number | undefined;

  constructor(parts: SessionKeeperParts) {
    this.#parts = parts;
    this.#session = parts.keyring.session;
  }

  /** What signs here now. */
  get session(): Session {
    return this.#session;
  }

  /** What an issuer says of it; `undefined` before the first login. */
  get certificate(): Certificate | undefined {
    const { certificate } = this.#session;
    if (certificate === undefined) return undefined;
    if (this.#certificate?.bytes !== certificate) {
      const decoded = decodeCertificate(certificate);
      this.#certificate = { ...decoded, bytes: certificate };
    }
    return this.#certificate;
  }

  /** The user that the certificate names; the one of `openDatabase` until there is one. */
  get user(): string {
    return this.certificate?.user ?? this.#session.user;
  }

  /** The public key that signs here, 32 bytes. */
  get sessionKey(): Uint8Array {
    return this.certificate?.sessionKey.slice() ??
      this.#session.signer.publicKey.slice();
  }

  /** Is there a certificate that is worth showing? */
  isCurrent(): boolean {
    return this.#chain() !== undefined &&
      this.#parts.world.now() < (this.renewalAt ?? 0);
  }

  /** Does the certificate cover this moment? */
  isValid(): boolean {
    const { certificate } = this;
    return certificate !== undefined &&
      this.#parts.world.now() < certificate.notAfter;
  }

  /** When the certificate should be renewed; `undefined` before the first login. */
  get renewalAt(): number | undefined {
    const { certificate } = this;
    return certificate && renewalAt(certificate.notAfter, this.#obtainedAt);
  }

  /** Resolves when nothing of it is being written. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  /** What proves to a server who this is; `undefined` before the first login. */
  prover(): Prover | undefined {
    const certificates = this.#chain();
    if (certificates === undefined) return undefined;
    const { signer } = this.#session;
    return {
      publicKey: signer.publicKey,
      certificates,
      sign: (message) => signer.sign(message),
    };
  }

  /** Its certificate and those of its issuers up to the root; `undefined` where one is missing. */
  #chain(): Uint8Array[] | undefined {
    const { keyring } = this.#parts;
    const chain: Uint8Array[] = [];
    let next = this.certificate;
    while (next !== undefined && chain.length < limits.certificatesMax) {
      chain.push(next.bytes);
      const { issuerKey } = next;
      if (equalBytes(issuerKey, keyring.rootKey)) return chain;
      next = this.#session.others?.map(decodeCertificate)
        .find(({ sessionKey }) => equalBytes(sessionKey, issuerKey));
    }
    return undefined;
  }

  /** Gets a certificate and puts it to use; a new key where it says something else of this one. */
  async login(
    login: Login,
    source: CredentialsSource,
    signal: AbortSignal,
  ): Promise<void> {
    const credentials = await credentialsOf(source);
    const { sessionKey, certificate: known } = this;
    const { key } = this.#parts.keyring;
    const given = await login({
      ...this.#question(key, credentials),
      ...(known !== undefined && { certificate: known.bytes }),
    }, signal);
    if (given !== "key-taken") {
      const certificate = readCertificate(given, sessionKey);
      if (known === undefined || isAlike(known, certificate)) {
        return await this.#use(key, given, signal);
      }
    }
    const next = await this.#parts.keyring.newKey();
    const other = await login(this.#question(next, credentials), signal);
    readCertificate(other, next.signer.publicKey);
    await this.#use(next, other as LoginAnswer, signal);
  }

  #question({ signer }: SessionKey, credentials: Credentials): LoginRequest {
    const { keyring, world } = this.#parts;
    return {
      sessionKey: signer.publicKey,
      credentials,
      rootKey: keyring.rootKey,
      nowMs: world.now(),
      sign: (message) => signer.sign(message),
    };
  }

  /** First the keys are durable, then they sign. */
  async #use(
    key: SessionKey,
    { certificate, issuers = [] }: LoginAnswer,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const { keyring, replicas, world } = this.#parts;
    const { certificate: last, others = [] } = this.#session;
    const isNew = last === undefined || equalBytes(last, certificate);
    // From the root on: what was issued comes after who issued it.
    const above = [...issuers].reverse();
    const before = [...others, ...(isNew ? [] : [last])].filter((bytes) =>
      !above.some((known) => equalBytes(known, bytes))
    );
    const kept = before.slice(above.length - limits.pastCertificatesMax);
    const session = { key, certificate, others: [...above, ...kept] };
    const storing = keyring.store(session);
    this.#storing = storing.catch(() => {});
    this.#session = await storing;
    this.#obtainedAt = world.now();
    for (const replica of replicas()) replica.useSession(this.#session);
  }
}

/** What differs between them is at most the dates. */
function isAlike(a: Certificate, b: Certificate): boolean {
  return a.user === b.user && a.claims === b.claims &&
    a.mayIssue === b.mayIssue;
}

function readCertificate(
  answer: LoginAnswer | "key-taken",
  sessionKey: Uint8Array,
): Certificate {
  try {
    const bytes = answer === "key-taken"
      ? new Uint8Array()
      : answer.certificate;
    const certificate = decodeCertificate(bytes);
    if (equalBytes(certificate.sessionKey, sessionKey)) return certificate;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw new DatabaseError(
    "login-failed",
    "The server's answer to the login is no certificate for this device. Update Sheaf, or check the address",
  );
}
