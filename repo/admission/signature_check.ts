/**
 * Did they sign it? Seals, certificates and other records, judged at the door and by `verify`;
 * loaded with them.
 */

import { isWeakKey, verify } from "../../crypto/ed25519.ts";
import { type Refusal, refuse } from "../../src/base/errors.ts";
import {
  type Batch,
  type ErasedPayloads,
  hashBatch,
  sealMessage,
} from "../commit/batch.ts";
import {
  type Certificate,
  certificateLayout,
  type Certificates,
  checkIssuer,
  checkPlace,
} from "../commit/certificate.ts";
import { sessionKeyOf } from "../commit/commit.ts";
import type { Signed, SignedLayout } from "../commit/signed_record.ts";

/**
 * Checks the seal of a signed batch over the commits from index `from` on, the
 * ones before it being known already; the result is the last id.
 */
export function verifyBatch(
  batch: Batch,
  previousId: Uint8Array,
  genesisId: Uint8Array,
  erased: ErasedPayloads,
  from = 0,
): Uint8Array<ArrayBuffer> | Refusal {
  if (batch.seal === undefined) return refuse("unsigned");
  const lastId = hashBatch(batch, previousId, erased, from);
  const message = sealMessage(genesisId, batch.chain, lastId);
  const sound = verify(batch.seal, message, sessionKeyOf(batch.chain));
  return sound ? lastId : refuse("bad-signature");
}

/** Is the certificate sound, and is there room for it? `undefined` when it is. */
export function checkCertificate(
  certificate: Certificate,
  rootKey: Uint8Array,
  known: Certificates,
): Refusal | undefined {
  return checkIssued(certificate, rootKey, known) ??
    checkPlace(certificate, known);
}

/** Did somebody sign it who may, for a key that is one? `undefined` when it is so. */
export function checkIssued(
  certificate: Certificate,
  rootKey: Uint8Array,
  known: Certificates,
): Refusal | undefined {
  if (isWeakKey(certificate.sessionKey)) {
    return refuse("bad-certificate", "Anybody can sign for its session key");
  }
  return checkIssuer(certificate, rootKey, known) ?? checkSigned(certificate);
}

/** Did its issuer sign it? `undefined` when it did. */
export function checkSigned(certificate: Certificate): Refusal | undefined {
  return isSigned(certificateLayout, certificate)
    ? undefined
    : refuse("bad-signature", "Its issuer did not sign it");
}

/** Did its issuer sign a record? Whether he may is the caller's question. */
export function isSigned<Said extends object>(
  layout: SignedLayout<Said>,
  record: Signed,
): boolean {
  const { message, signature } = layout.signedPart(record);
  return verify(signature, message, record.issuerKey);
}
