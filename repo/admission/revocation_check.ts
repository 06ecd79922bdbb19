/**
 * Is a revocation sound, and is there room for it? Asked at the door, and by
 * `verify`; loaded with them.
 *
 * @module
 */

import { verify } from "../../crypto/mod.ts";
import { concatBytes, equalBytes } from "../../src/base/bytes.ts";
import { type Refusal, refuse } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Certificates } from "../commit/certificate.ts";
import {
  DOMAIN,
  type Revocation,
  type Revocations,
  SIGNATURE_LENGTH,
} from "../commit/revocation.ts";

/** What the check of a revocation depends on. */
export interface RevocationContext {
  readonly genesisId: Uint8Array;
  readonly rootKey: Uint8Array;
  readonly certificates: Certificates;
}

/** Is the revocation sound? `undefined` when it is. */
export function checkRevocation(
  revocation: Revocation,
  { genesisId, rootKey, certificates }: RevocationContext,
): Refusal | undefined {
  const { bytes, issuerKey, sessionKey, wall } = revocation;
  if (!equalBytes(revocation.genesisId, genesisId)) {
    return refuse("malformed", "The revocation is for another repository");
  }
  // Or an issuer whose key was stolen would let itself go on.
  if (equalBytes(issuerKey, sessionKey)) {
    return refuse("bad-certificate", "A session has no say in its own end");
  }
  const mayIssue = equalBytes(issuerKey, rootKey) ||
    certificates.mayIssue(issuerKey, wall);
  if (!mayIssue) {
    return refuse("bad-certificate", "Its issuer may not revoke sessions");
  }
  const end = bytes.length - SIGNATURE_LENGTH;
  const message = concatBytes(DOMAIN, bytes.subarray(0, end));
  if (!verify(bytes.subarray(end), message, issuerKey)) {
    return refuse("bad-signature", "Its issuer did not sign it");
  }
  return undefined;
}

/** Is there no room for another one? Only issuers could fill it. */
export function checkRoom(
  revocations: Revocations,
  { sessionKey }: Revocation,
): Refusal | undefined {
  const isFull = revocations.size >= limits.revocationsMax ||
    revocations.countOf(sessionKey) >= limits.revocationsOfKeyMax;
  return isFull
    ? refuse("too-large", "There are too many revocations")
    : undefined;
}
