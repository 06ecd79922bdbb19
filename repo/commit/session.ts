/**
 * Sessions: the key that signs here, and what issuers say of it.
 *
 * A replica may write before anybody certified its key: its batches are sealed
 * all the same, and travel when the certificate is there.
 */

import type { SessionSigner } from "../../crypto/keys.ts";
import {
  type Certificate,
  type Certificates,
  checkIssuer,
  checkPlace,
  decodeCertificate,
  sessionKeyIn,
} from "./certificate.ts";
import { nameOf } from "./commit.ts";

/** A signing key, certified for a user or not yet. */
export interface Session {
  /** Whose commits it signs; while it is not certified, whom the local user calls themself. */
  readonly user: string;
  readonly signer: SessionSigner;
  /** The certificate's bytes; absent until there is one. */
  readonly certificate?: Uint8Array | undefined;
  /** Certificates of its issuers, from the root on, and of keys that signed here before. */
  readonly others?: readonly Uint8Array[] | undefined;
}

export function sessionKeyOfSession(
  { certificate, signer }: Session,
): Uint8Array {
  return certificate === undefined
    ? signer.publicKey
    : sessionKeyIn(certificate);
}

/** The public key of a session as the first 32 characters of its chains' names. */
export function sessionName(session: Session): string {
  return nameOf(sessionKeyOfSession(session), 0, 32);
}

/** Everything that issuers said of the keys of a session: its own certificate last. */
export function certificatesOf(
  { certificate, others = [] }: Session,
): Certificate[] {
  const all = others.map(decodeCertificate);
  if (certificate !== undefined) all.push(decodeCertificate(certificate));
  return all;
}

/**
 * Tells a log what issuers say of a session. Each certificate goes back to the
 * root through those that are known, or is left out: nobody would take it. Their
 * signatures were checked when the session got them.
 */
export function introduce(
  session: Session,
  rootKey: Uint8Array,
  known: Certificates,
  append: (certificate: Uint8Array) => void,
): void {
  for (const certificate of certificatesOf(session)) {
    if (known.has(certificate)) continue;
    if (checkIssuer(certificate, rootKey, known) !== undefined) continue;
    if (checkPlace(certificate, known) !== undefined) continue;
    append(certificate.bytes);
    known.add(certificate);
  }
}

/** Who wrote a commit, by a certificate; for the own key without any, who says so. */
export function userOf(
  certificates: Certificates,
  chain: string,
  wall: number,
  own: { readonly key: string; readonly user: string },
): string | undefined {
  const key = chain.slice(0, 32);
  const user = certificates.covering(key, wall)?.user;
  if (user !== undefined || certificates.of(key).length > 0) return user;
  return key === own.key ? own.user : undefined;
}
