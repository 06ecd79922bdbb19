/**
 * Did they sign it? Seals, certificates and other records, judged at the door and by `verify`;
 * loaded with them.
 */

import { type Signature, verify } from "../../crypto/signature.ts";
import { isWeakKey } from "../../crypto/weak_key.ts";
import { equalBytes } from "../../src/base/bytes.ts";
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

/** What a batch's seal is over. */
interface Sealed {
  readonly previousId: Uint8Array;
  readonly from: number;
  readonly lastId: Uint8Array<ArrayBuffer>;
}

/** Of batches, by their bytes, whose seals were looked at before they are judged: none is hashed twice. */
const seen = new WeakMap<Uint8Array, Sealed>();

/** The seal of a signed batch over the commits from index `from` on, which is looked at before it is judged. */
export function sealOf(
  batch: Batch,
  previousId: Uint8Array,
  genesisId: Uint8Array,
  erased: ErasedPayloads,
  from = 0,
): Signature & Pick<Sealed, "lastId"> {
  const lastId = hashBatch(batch, previousId, erased, from);
  seen.set(batch.bytes, { previousId: previousId.slice(), from, lastId });
  return sealOver(batch, genesisId, lastId);
}

function sealOver(
  { chain, seal }: Batch,
  genesisId: Uint8Array,
  lastId: Sealed["lastId"],
): Signature & Pick<Sealed, "lastId"> {
  const message = sealMessage(genesisId, chain, lastId);
  return { lastId, message, signature: seal!, publicKey: sessionKeyOf(chain) };
}

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
  const known = seen.get(batch.bytes);
  const isKnown = known?.from === from &&
    equalBytes(known.previousId, previousId);
  const lastId = isKnown
    ? known.lastId
    : hashBatch(batch, previousId, erased, from);
  const { message, publicKey } = sealOver(batch, genesisId, lastId);
  const isSound = verify(batch.seal, message, publicKey);
  return isSound ? lastId : refuse("bad-signature");
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

/** What an issuer says to have signed. */
export function signatureOf<Said extends object>(
  layout: SignedLayout<Said>,
  record: Signed,
): Signature {
  return { ...layout.signedPart(record), publicKey: record.issuerKey };
}

/** Did its issuer sign a record? Whether he may is the caller's question. */
export function isSigned<Said extends object>(
  layout: SignedLayout<Said>,
  record: Signed,
): boolean {
  const { message, signature } = layout.signedPart(record);
  return verify(signature, message, record.issuerKey);
}
