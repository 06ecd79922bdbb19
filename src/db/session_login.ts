/**
 * How a session gets its certificate: it logs in, shows to a server who it is,
 * and renews in time what it has. Loaded when somebody connects.
 *
 * Architecture invariant: one session key has one user and one set of claims.
 * A certificate that says otherwise belongs to a new key.
 */

import { equalBytes } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import { type Certificate, decodeCertificate } from "../../repo/mod.ts";
import { certificateLayout } from "../../repo/commit/certificate.ts";
import {
  checkSigned,
  signatureOf,
} from "../../repo/admission/signature_check.ts";
import { settle } from "../../crypto/signature.ts";
import type { Prover } from "../../sync/proof.ts";
import { loginTo } from "../../sync/transport/login.ts";
import {
  type Credentials,
  credentialsOf,
  type CredentialsSource,
  type Login,
  type LoginAnswer,
  type LoginRequest,
} from "./login.ts";
import type { Keyring } from "./keyring.ts";
import type { SessionKey } from "./session_key.ts";

/** Timers of a platform take no longer delay than this. */
const DELAY_MS_MAX = 24 * 60 * 60 * 1000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A renewal that failed is tried again after this long. */
const RENEWAL_MS_MIN = 60_000;

export class SessionLogin {
  readonly #keyring: Keyring;
  readonly #world: World;

  constructor(keyring: Keyring, world: World) {
    this.#keyring = keyring;
    this.#world = world;
  }

  /** Is there a certificate that is worth showing? */
  isCurrent(): boolean {
    return this.#chain() !== undefined &&
      this.#world.now() < (this.renewalAt ?? 0);
  }

  /** Does the certificate cover this moment? */
  isValid(): boolean {
    const { certificate } = this.#keyring;
    return certificate !== undefined &&
      this.#world.now() < certificate.notAfter;
  }

  get renewalAt(): number | undefined {
    const { certificate, obtainedAt } = this.#keyring;
    return certificate && renewalAt(certificate.notAfter, obtainedAt);
  }

  prover(): Prover | undefined {
    const certificates = this.#chain();
    if (certificates === undefined) return undefined;
    const { signer } = this.#keyring.session;
    return {
      publicKey: signer.publicKey,
      certificates,
      sign: (message) => signer.sign(message),
    };
  }

  /** Its certificate and those of its issuers up to the root; `undefined` where one is missing. */
  #chain(): Uint8Array[] | undefined {
    const { rootKey, session } = this.#keyring;
    const chain: Uint8Array[] = [];
    let next = this.#keyring.certificate;
    while (next !== undefined && chain.length < limits.certificatesMax) {
      chain.push(next.bytes);
      const { issuerKey } = next;
      if (equalBytes(issuerKey, rootKey)) return chain;
      next = session.others?.map(decodeCertificate)
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
    const { key, certificate: known } = this.#keyring;
    const given = await login({
      ...this.#question(key, credentials),
      ...(known !== undefined && { certificate: known.bytes }),
    }, signal);
    if (given !== "key-taken") {
      const certificate = await readCertificate(given, key.signer.publicKey);
      if (known === undefined || isAlike(known, certificate)) {
        return await this.#use(key, given, signal);
      }
    }
    const next = await this.#keyring.newKey();
    const other = await login(this.#question(next, credentials), signal);
    await readCertificate(other, next.signer.publicKey);
    await this.#use(next, other as LoginAnswer, signal);
  }

  #question({ signer }: SessionKey, credentials: Credentials): LoginRequest {
    return {
      sessionKey: signer.publicKey,
      credentials,
      rootKey: this.#keyring.rootKey,
      nowMs: this.#world.now(),
      sign: (message) => signer.sign(message),
    };
  }

  /** Keeps what was given beside what was had before. */
  async #use(
    key: SessionKey,
    { certificate, issuers = [] }: LoginAnswer,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) return;
    const { certificate: last, others = [] } = this.#keyring.session;
    const isNew = last === undefined || equalBytes(last, certificate);
    // From the root on: what was issued comes after who issued it.
    const above = [...issuers].reverse();
    const before = [...others, ...(isNew ? [] : [last])].filter((bytes) =>
      !above.some((known) => equalBytes(known, bytes))
    );
    const kept = before.slice(above.length - limits.pastCertificatesMax);
    await this.#keyring.store({
      key,
      certificate,
      others: [...above, ...kept],
    });
  }
}

export interface RenewalParts {
  readonly keyring: Keyring;
  readonly world: World;
  readonly source: CredentialsSource;
  /** Where, or how; `undefined` where there is no way. */
  readonly login: string | URL | Login | undefined;
  /** Is the first login due whatever the certificate says? */
  readonly isDue: boolean;
  readonly stop: AbortSignal;
}

/** Certificates for one connection, as long as it lasts. */
export class Renewal {
  readonly #parts: RenewalParts;
  readonly #session: SessionLogin;
  #isDue: boolean;
  #cancel: (() => void) | undefined;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.#session = new SessionLogin(parts.keyring, parts.world);
    this.#isDue = parts.isDue;
    const { stop } = parts;
    stop.addEventListener("abort", () => this.#cancel?.(), { once: true });
  }

  /** What proves to the server who this is, had anew where that is due or asked for. */
  async prover(renew: boolean, signal: AbortSignal): Promise<Prover> {
    const isWanted = renew || this.#isDue;
    if (isWanted || !this.#session.isCurrent()) {
      try {
        await this.#login(signal);
      } catch (cause) {
        // What still holds is good enough to go on with, while a login fails.
        if (isWanted || !this.#session.isValid()) throw cause;
      }
    }
    this.#schedule();
    const prover = this.#session.prover();
    if (prover !== undefined) return prover;
    throw new DatabaseError("closed", "The connection is closed");
  }

  async #login(signal: AbortSignal): Promise<void> {
    const { login, source, stop } = this.#parts;
    const both = AbortSignal.any([signal, stop]);
    const how = typeof login === "function" ? login : loginAt(login);
    await this.#session.login(how, source, both);
    this.#isDue = false;
  }

  /** A connection may outlive its certificate: the next one is had in time. */
  #schedule(): void {
    const { world, stop } = this.#parts;
    this.#cancel?.();
    const delayMs = (this.#session.renewalAt ?? Infinity) - world.now();
    if (delayMs > 100 * DELAY_MS_MAX || stop.aborted) return;
    this.#cancel = world.after(
      Math.min(Math.max(delayMs, RENEWAL_MS_MIN), DELAY_MS_MAX),
      () => void this.#renew(),
    );
  }

  async #renew(): Promise<void> {
    if (!this.#session.isCurrent()) {
      await this.#login(this.#parts.stop).catch(() => {});
    }
    this.#schedule();
  }
}

function loginAt(address: string | URL | undefined): Login {
  if (address !== undefined) return loginTo(address);
  throw new DatabaseError(
    "login-failed",
    "This device has no certificate, and nowhere to log in: give connect() the `login` option",
  );
}

/**
 * From when on a certificate is renewed: in the last fifth of its time, a week
 * before its end at the earliest; on its last day where nobody knows when it
 * was had, since its own dates reach back to what was written before it.
 */
export function renewalAt(notAfter: number, obtainedAt?: number): number {
  if (obtainedAt === undefined) return notAfter - DAY_MS;
  const lastFifth = notAfter - (notAfter - obtainedAt) / 5;
  return Math.max(lastFifth, notAfter - 7 * DAY_MS);
}

/** What differs between them is at most the dates. */
function isAlike(a: Certificate, b: Certificate): boolean {
  return a.user === b.user && a.claims === b.claims &&
    a.mayIssue === b.mayIssue;
}

async function readCertificate(
  answer: LoginAnswer | "key-taken",
  sessionKey: Uint8Array,
): Promise<Certificate> {
  try {
    const given = answer === "key-taken"
      ? []
      : [answer.certificate, ...answer.issuers ?? []].map(decodeCertificate);
    const [own] = given;
    await settle(given.map((one) => signatureOf(certificateLayout, one)));
    const isSigned = given.every((one) => checkSigned(one) === undefined);
    if (own && isSigned && equalBytes(own.sessionKey, sessionKey)) return own;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw new DatabaseError(
    "login-failed",
    "The server's answer to the login is not a certificate for this device. Update Sheaf, or check the address",
  );
}
