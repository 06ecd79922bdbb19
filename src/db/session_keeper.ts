/**
 * The session of a database: its key and its certificate, and how both are
 * replaced while repositories are open. How they are had is in `session_login.ts`.
 *
 * Architecture invariant: one session key has one user and one set of claims.
 * A certificate that says otherwise belongs to a new key.
 *
 * @module
 */

import type { World } from "../base/world.ts";
import {
  type Certificate,
  decodeCertificate,
  type Replica,
  type Session,
} from "../../repo/mod.ts";
import type { KeptSession, Keyring } from "./keyring.ts";

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

  /** Resolves when nothing of it is being written. */
  async settled(): Promise<void> {
    await this.#storing;
  }

  /** What is asked of the keys. */
  get keyring(): Keyring {
    return this.#parts.keyring;
  }

  /** When its certificate was had, where that was since it was opened. */
  get obtainedAt(): number | undefined {
    return this.#obtainedAt;
  }

  /** First the keys are durable, then they sign. */
  async use(session: KeptSession): Promise<void> {
    const { keyring, replicas, world } = this.#parts;
    const storing = keyring.store(session);
    this.#storing = storing.catch(() => {});
    this.#session = await storing;
    this.#obtainedAt = world.now();
    for (const replica of replicas()) replica.useSession(this.#session);
  }
}
