/**
 * Is a credential sound, and is there room for it? Asked at the door, and by
 * `verify`; loaded with them.
 */

import { sha256 } from "../../crypto/sha256.ts";
import { equalBytes } from "../../src/base/bytes.ts";
import { type Refusal, refuse, refuseAt } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { NumberRanges } from "../../src/base/number_ranges.ts";
import { erase } from "../../src/schema/erasure.ts";
import { hashInStub, isErased, isStub } from "../../src/schema/stub.ts";
import type {
  Credential,
  CredentialName,
  CredentialOf,
  Credentials,
  Said,
} from "../commit/credentials.ts";
import {
  retiredBy,
  type Retirement,
  retirementLayout,
  type Retirements,
} from "../commit/retirement.ts";
import {
  type Revocation,
  revocationLayout,
  type Revocations,
} from "../commit/revocation.ts";
import { chainName, nameOf } from "../commit/commit.ts";
import { type Redaction, redactionLayout } from "../commit/redaction.ts";
import { isOf } from "../redaction/erased.ts";
import { type Statement, statementLayout } from "../commit/statement.ts";
import { type Void, voidLayout, type Voids } from "../commit/void.ts";
import { checkCertificate, isSigned, signatureOf } from "./signature_check.ts";
import type { Signature } from "../../crypto/signature.ts";
import { certificateLayout } from "../commit/certificate.ts";

export interface CredentialContext {
  readonly genesisId: Uint8Array;
  readonly rootKey: Uint8Array;
  readonly credentials: Credentials;
  payloadOf(chain: string, number: number): Uint8Array | undefined;
}

const checks: {
  readonly [Name in CredentialName]: (
    one: Said[Name],
    context: CredentialContext,
  ) => Refusal | undefined;
} = {
  certificate: (one, { rootKey, credentials }) =>
    checkCertificate(one, rootKey, credentials.certificates),
  revocation: (one, context) =>
    checkRevocation(one, context) ??
      checkRoom(context.credentials.revocations, one),
  void: checkVoid,
  redaction: checkRedaction,
  retirement: checkRetirement,
  statement: checkStatement,
};

/**
 * What its check is going to ask of signatures; `undefined` for a redaction, which
 * changes what is asked of others.
 */
export function signatureOfCredential(
  { what, one }: Credential,
): Signature | undefined {
  switch (what) {
    case "certificate":
      return signatureOf(certificateLayout, one);
    case "revocation":
      return signatureOf(revocationLayout, one);
    case "void":
      return signatureOf(voidLayout, one);
    case "retirement":
      return signatureOf(retirementLayout, one);
    case "statement":
      return signatureOf(statementLayout(one.kind), one);
    case "redaction":
      return undefined;
  }
}

/** Is the credential sound, and is there room for it? `undefined` when it is so. */
export function checkCredential<Name extends CredentialName>(
  { what, one }: CredentialOf<Name>,
  context: CredentialContext,
): Refusal | undefined {
  return checks[what](one, context);
}

function checkRevocation(
  revocation: Revocation,
  { genesisId, rootKey, credentials }: CredentialContext,
): Refusal | undefined {
  const { issuerKey, sessionKey, wall } = revocation;
  if (!equalBytes(revocation.genesisId, genesisId)) {
    return refuse("malformed", "The revocation is for another repository");
  }
  // Or an issuer whose key was stolen would let itself go on.
  if (equalBytes(issuerKey, sessionKey)) {
    return refuse("bad-certificate", "A session has no say in its own end");
  }
  const mayIssue = equalBytes(issuerKey, rootKey) ||
    credentials.certificates.mayIssue(issuerKey, wall);
  if (!mayIssue) {
    return refuse("bad-certificate", "Its issuer may not revoke sessions");
  }
  if (!isSigned(revocationLayout, revocation)) {
    return refuse("bad-signature", "Its issuer did not sign it");
  }
  return undefined;
}

/** Is there no room for another one? Only issuers could fill it. */
function checkRoom(
  revocations: Revocations,
  { sessionKey }: Revocation,
): Refusal | undefined {
  const isFull = revocations.size >= limits.revocationsMax ||
    revocations.countOf(sessionKey) >= limits.revocationsOfKeyMax;
  return isFull
    ? refuse("too-large", "There are too many revocations")
    : undefined;
}

function checkVoid(
  one: Void,
  { genesisId, credentials: { certificates, voids } }: CredentialContext,
): Refusal | undefined {
  if (!equalBytes(one.genesisId, genesisId)) {
    return refuse("malformed", "The void is for another repository");
  }
  if (!equalBytes(one.issuerKey, one.chain.subarray(0, 32))) {
    return refuse("malformed", "Another key than the chain's gives it up");
  }
  if (certificates.of(nameOf(one.issuerKey, 0, 32)).length === 0) {
    return refuse("unknown-session");
  }
  if (!hasRoomFor(voids, one)) {
    return refuse("too-large", "Its key has given up too much");
  }
  return isSigned(voidLayout, one)
    ? undefined
    : refuse("bad-signature", "The chain's author did not sign it");
}

/** Is there room for another void of its key? */
export function hasRoomFor(
  voids: Voids,
  { chain, ranges, bytes: { length } }: Pick<
    Void,
    "chain" | "ranges" | "bytes"
  >,
): boolean {
  const name = chainName(chain);
  const { commits, bytes } = voids.keyOf(name);
  const bytesMax = voids.bytes < limits.voidsBytesMax
    ? limits.voidsOfKeyBytesMax
    : limits.voidsOfKeyBytesMin;
  const named = ranges.reduce((sum, { count }) => sum + count, 0);
  // Before it is looked through: a few bytes name very many commits.
  if (bytes + length > bytesMax || named > limits.voidsOfKeyMax) return false;
  const known = voids.numbersOf(name);
  const fresh = new NumberRanges();
  for (const { first, count } of ranges) {
    for (const gap of known.gaps(first, first + count)) fresh.add(...gap);
  }
  return commits + fresh.size <= limits.voidsOfKeyMax;
}

/** What it names may be longer here: nothing that was accepted goes, and a server takes no such one. */
function checkRetirement(
  one: Retirement,
  { genesisId, credentials: { certificates, retirements } }: CredentialContext,
): Refusal | undefined {
  if (!equalBytes(one.genesisId, genesisId)) {
    return refuse("malformed", "The retirement is for another repository");
  }
  if (certificates.of(nameOf(one.issuerKey, 0, 32)).length === 0) {
    return refuse("unknown-session");
  }
  if (!hasRoomToRetire(retirements, one)) {
    return refuse("too-large", "Its key has retired too many chains");
  }
  return isSigned(retirementLayout, one)
    ? undefined
    : refuse("bad-signature", "The chains' author did not sign it");
}

/** Is there room for another retirement of its key? */
export function hasRoomToRetire(
  retirements: Retirements,
  one: Retirement,
): boolean {
  const ends = retiredBy(one);
  const { bytes, lengths } = retirements.of(ends[0]!.chain) ??
    { bytes: 0, lengths: new Map<string, number>() };
  const fresh = ends.filter(({ chain }) => !lengths.has(chain));
  const bytesMax = retirements.bytes < limits.retirementsBytesMax
    ? limits.retirementsOfKeyBytesMax
    : limits.retirementsOfKeyBytesMin;
  return bytes + one.bytes.length <= bytesMax &&
    lengths.size + fresh.length <= limits.retiredChainsMax;
}

function checkRedaction(
  one: Redaction,
  context: CredentialContext,
): Refusal | undefined {
  const { genesisId, rootKey, credentials } = context;
  const { issuerKey, wall, items, chains } = one;
  if (!equalBytes(one.genesisId, genesisId)) {
    return refuse("malformed", "The redaction is for another repository");
  }
  if (items.length === 0 || chains.length === 0) {
    return refuse("malformed", "It erases nothing");
  }
  const mayRedact = equalBytes(issuerKey, rootKey) ||
    credentials.certificates.mayRedact(issuerKey, wall);
  if (!mayRedact) {
    return refuse("bad-certificate", "Its issuer may not erase anything");
  }
  if (!isSigned(redactionLayout, one)) {
    return refuse("bad-signature", "Its issuer did not sign it");
  }
  const { redactions } = credentials;
  if (redactions.bytes + one.bytes.length > limits.redactionsBytesMax) {
    return refuse("too-large", "There are too many redactions");
  }
  return checkErased(one, context);
}

/** Is it what the commits that are here are, and become? */
function checkErased(
  { items, chains }: Redaction,
  { payloadOf, credentials: { redactions } }: CredentialContext,
): Refusal | undefined {
  const isMeant = isOf(items);
  for (const { chain, commits } of chains) {
    for (const { number, was, is } of commits) {
      const payload = payloadOf(chain, number);
      if (payload === undefined) continue;
      const known = isErased(payload)
        ? redactions.hashOf(chain, number)
        : isStub(payload)
        ? hashInStub(payload)
        : sha256(payload);
      const isSame = known === undefined || equalBytes(known, was);
      // What others have erased of it already, this one need not know.
      const isLeft = isErased(payload) || isStub(payload) ||
        equalBytes(sha256(erase(payload, isMeant) ?? payload), is);
      if (isSame && isLeft) continue;
      return refuseAt(number, "fork", "It means another commit");
    }
  }
  return undefined;
}

function checkStatement(
  statement: Statement,
  { genesisId, rootKey, credentials }: CredentialContext,
): Refusal | undefined {
  const { issuerKey, wall, kind } = statement;
  if (!equalBytes(statement.genesisId, genesisId)) {
    return refuse("malformed", "The statement is for another repository");
  }
  // Or whoever may log in could fill every replica with what nobody understands.
  const mayIssue = equalBytes(issuerKey, rootKey) ||
    credentials.certificates.mayIssue(issuerKey, wall);
  if (!mayIssue) {
    return refuse("bad-certificate", "Its issuer may not make statements");
  }
  if (!isSigned(statementLayout(kind), statement)) {
    return refuse("bad-signature", "Its issuer did not sign it");
  }
  return credentials.statements.hasRoomFor(statement)
    ? undefined
    : refuse("too-large", "There are too many statements");
}
