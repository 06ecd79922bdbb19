/**
 * Who may sign: the root key, the server's certificate, and the users with
 * their claims.
 *
 * @module
 */

import { createSigner, generateKeyPair } from "../../crypto/mod.ts";
import type { KeyPair, Signer } from "../../crypto/ed25519.ts";
import { issueCertificate } from "../../repo/certificate.ts";
import { BEGIN_MS } from "./actor_world.ts";
import type { Dice } from "./dice.ts";

const DAY_MS = 86_400_000;

/** A user with one device. */
export interface Person {
  readonly user: string;
  readonly team: string;
  /** What its device signs with now; nobody's before its first life. */
  sessionKey: Uint8Array;
}

/** See the file's header. */
export class Authority {
  readonly root: KeyPair;
  readonly server: KeyPair;
  /** The server's own certificate; it may issue. */
  readonly serverCertificate: Uint8Array;
  readonly #signer: Signer;

  constructor(dice: Dice) {
    this.root = generateKeyPair(dice.fill);
    this.server = generateKeyPair(dice.fill);
    this.serverCertificate = issueCertificate({
      sessionKey: this.server.publicKey,
      user: "server",
      claims: "{}",
      mayIssue: true,
      notBefore: 0,
      notAfter: BEGIN_MS + 10_000 * DAY_MS,
    }, createSigner(this.root.secretKey)).bytes;
    this.#signer = createSigner(this.server.secretKey);
  }

  /** The key that issues and revokes. */
  get issuer(): Signer {
    return this.#signer;
  }

  /** What a login gives: a certificate that ends at a virtual moment. */
  certify({ user, team, sessionKey }: Person, endMs: number): Uint8Array {
    return issueCertificate({
      sessionKey,
      user,
      claims: JSON.stringify({ team }),
      mayIssue: false,
      notBefore: BEGIN_MS - 3_000 * DAY_MS,
      notAfter: Math.floor(BEGIN_MS + endMs),
    }, this.#signer).bytes;
  }
}
