/**
 * Proofs: showing who one is, and checking who the other one is.
 *
 * A proof signs both nonces, so that it is worth nothing to anybody else and at
 * no other time, and names the other side, so that it cannot be handed on.
 */

import {
  type Certificate,
  certificateLayout,
  Certificates,
  decodeCertificate,
} from "../repo/commit/certificate.ts";
import { type Signature, verify } from "../crypto/signature.ts";
import type { SessionSigner } from "../crypto/keys.ts";
import { concatBytes, encodeText } from "../src/base/bytes.ts";
import { type Refusal, refuse } from "../src/base/errors.ts";
import {
  checkCertificate,
  signatureOf,
} from "../repo/admission/signature_check.ts";

const CLIENT_DOMAIN = encodeText("sheaf prove client 1\n");
const SERVER_DOMAIN = encodeText("sheaf prove server 1\n");

/** Who proves itself: signs with a session key, shows its certificates. */
export interface Prover extends SessionSigner {
  /** Its own certificate first, then its issuers', up to the root. */
  readonly certificates: readonly Uint8Array[];
}

/** A server: it signs at once. */
export interface ServerProver extends Prover {
  sign(message: Uint8Array): Uint8Array;
}

/** Who the other side has proved to be. */
export interface PeerSession {
  /** Session public key, 32 bytes. */
  readonly key: Uint8Array;
  readonly user: string;
  /** A JSON object, as text. */
  readonly claims: string;
  /** May it issue certificates? Then it is a server, or the owner of the root key. */
  readonly mayIssue: boolean;
  /** Wall milliseconds from which on its certificate is good. */
  readonly notBefore: number;
  /** Wall milliseconds after which it ends. */
  readonly notAfter: number;
  /** Its own certificate first, then its issuers'. */
  readonly certificates: readonly Uint8Array[];
}

/** What both proofs are over. */
export interface Nonces {
  /** 32 bytes. */
  readonly server: Uint8Array;
  /** 32 bytes. */
  readonly client: Uint8Array;
}

/** What a client signs to a server of this name. */
export function clientMessage(
  { server, client }: Nonces,
  rootKey: Uint8Array,
  serverName: string,
): Uint8Array {
  const name = encodeText(serverName);
  return concatBytes(CLIENT_DOMAIN, server, client, rootKey, name);
}

/** What a server signs to the client of this session key. */
export function serverMessage(
  { server, client }: Nonces,
  rootKey: Uint8Array,
  clientKey: Uint8Array,
): Uint8Array {
  return concatBytes(SERVER_DOMAIN, server, client, rootKey, clientKey);
}

/** Checks certificates, own first, then issuers'; the result is the session that they make. */
export function checkCertificates(
  certificates: readonly Uint8Array[],
  rootKey: Uint8Array,
): PeerSession | Refusal {
  const known = new Certificates();
  let own: Certificate | undefined;
  try {
    for (const bytes of certificates.toReversed()) {
      own = decodeCertificate(bytes);
      const refusal = checkCertificate(own, rootKey, known);
      if (refusal !== undefined) return refusal;
      known.add(own);
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return refuse("bad-certificate", error.message);
  }
  if (own === undefined) {
    return refuse("bad-certificate", "No certificate was shown");
  }
  const { sessionKey: key, user, claims, mayIssue, notBefore, notAfter } = own;
  return { key, user, claims, mayIssue, notBefore, notAfter, certificates };
}

/**
 * What it takes to check certificates, own first, and what their session signed.
 *
 * @throws {SyntaxError} where they are none
 */
export function signaturesOfProof(
  certificates: readonly Uint8Array[],
  signature: Uint8Array,
  message: Uint8Array,
): Signature[] {
  const chain = certificates.map(decodeCertificate);
  const asked = chain.map((one) => signatureOf(certificateLayout, one));
  const publicKey = chain[0]?.sessionKey;
  if (publicKey !== undefined) asked.push({ signature, message, publicKey });
  return asked;
}

/** Did this session sign the message? */
export function isProved(
  signature: Uint8Array,
  message: Uint8Array,
  peer: PeerSession,
): boolean {
  return verify(signature, message, peer.key);
}
