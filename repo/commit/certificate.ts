/**
 * Session certificates: who may sign in whose name, and until when.
 *
 * `certificate = 1 | flags u8 | session key {32} | not before u48 | not after
 * u48 | user text | claims text | issuer key {32} | signature {64}`. The
 * signature covers everything before it under a domain of its own. Its issuer is
 * the root key, or a key whose own certificate may issue and spans the dates.
 * Dates are compared with commits' clocks, never with a wall clock (law 7).
 *
 * @module
 */

import {
  isWeakKey,
  type SessionSigner,
  type Signer,
  verify,
} from "../../crypto/mod.ts";
import {
  ByteReader,
  ByteWriter,
  concatBytes,
  encodeText,
  equalBytes,
} from "../../src/base/bytes.ts";
import { DatabaseError, type Refusal, refuse } from "../../src/base/errors.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import { readText } from "./canonical.ts";
import { nameOf } from "./commit.ts";
import { getOrMake } from "../../src/base/collections.ts";

const FORMAT = 1;
const MAY_ISSUE = 1;
const SIGNATURE_LENGTH = 64;
const CERTIFICATE_DOMAIN = encodeText("sheaf certificate 1\n");
const LENGTH_MAX = limits.userBytesMax + limits.claimsBytesMax + 256;

/** What an issuer says of a session key. */
export interface CertificateFields {
  /** The key that signs batches: 32 bytes. */
  readonly sessionKey: Uint8Array;
  /** May it issue certificates within its own dates? */
  readonly mayIssue: boolean;
  /** First wall millisecond of commits it covers. */
  readonly notBefore: number;
  /** Last wall millisecond of commits it covers. */
  readonly notAfter: number;
  /** Whose commits they are. */
  readonly user: string;
  /** A JSON object for rules to read. */
  readonly claims: string;
}

/** A decoded certificate: well formed, not yet checked. */
export interface Certificate extends CertificateFields {
  /** All of it, as it is stored and travels. */
  readonly bytes: Uint8Array;
  /** The key that signed it: 32 bytes. */
  readonly issuerKey: Uint8Array;
}

/** Makes and signs a certificate. */
export function issueCertificate(
  fields: CertificateFields,
  issuer: Signer,
): Certificate {
  const unsigned = unsignedCertificate(fields, issuer.publicKey);
  return certificateOf(unsigned, issuer.sign(messageOf(unsigned)));
}

/** The same by an issuer whose key signs later. */
export async function issueCertificateLater(
  fields: CertificateFields,
  issuer: SessionSigner,
): Promise<Certificate> {
  const unsigned = unsignedCertificate(fields, issuer.publicKey);
  return certificateOf(unsigned, await issuer.sign(messageOf(unsigned)));
}

function messageOf(unsigned: Uint8Array): Uint8Array {
  return concatBytes(CERTIFICATE_DOMAIN, unsigned);
}

function certificateOf(
  unsigned: Uint8Array,
  signature: Uint8Array,
): Certificate {
  return decodeCertificate(concatBytes(unsigned, signature));
}

function unsignedCertificate(
  fields: CertificateFields,
  issuerKey: Uint8Array,
): Uint8Array {
  checkFields(fields);
  const writer = new ByteWriter();
  writer.u8(FORMAT);
  writer.u8(fields.mayIssue ? MAY_ISSUE : 0);
  writer.bytes(fields.sessionKey);
  writer.u48(fields.notBefore);
  writer.u48(fields.notAfter);
  writer.text(fields.user);
  writer.text(fields.claims);
  writer.bytes(issuerKey);
  return writer.copy();
}

function checkFields(fields: CertificateFields): void {
  const { sessionKey, notBefore, notAfter, user, claims } = fields;
  const dated = Number.isInteger(notBefore) && Number.isInteger(notAfter) &&
    notBefore >= 0 && notBefore <= notAfter && notAfter <= wallMax;
  if (!dated || sessionKey.length !== 32 || !isJsonObject(claims)) {
    throw new DatabaseError(
      "invalid-option",
      "Cannot issue a certificate: it takes a 32-byte key, dates in whole " +
        "milliseconds in order, and claims that are a JSON object",
    );
  }
  if (
    encodeText(user).length > limits.userBytesMax ||
    encodeText(claims).length > limits.claimsBytesMax
  ) {
    throw new DatabaseError(
      "value-too-large",
      `Cannot issue a certificate: a user takes ${limits.userBytesMax} bytes ` +
        `and claims ${limits.claimsBytesMax} at most`,
    );
  }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Reads a certificate and keeps a copy; `SyntaxError` when the bytes are none. */
export function decodeCertificate(foreign: Uint8Array): Certificate {
  const end = foreign.length - SIGNATURE_LENGTH;
  if (foreign.length > LENGTH_MAX || end < 0) {
    throw new SyntaxError("Cannot decode certificate: its size is not allowed");
  }
  const bytes = foreign.slice();
  const reader = new ByteReader(bytes, 0, end);
  if (reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode certificate: its format is unknown");
  }
  const flags = reader.u8();
  const sessionKey = reader.take(32);
  const notBefore = reader.u48();
  const notAfter = reader.u48();
  const user = readText(reader, limits.userBytesMax);
  const claims = readText(reader, limits.claimsBytesMax);
  const issuerKey = reader.take(32);
  if (
    flags > MAY_ISSUE || notBefore > notAfter || !isJsonObject(claims) ||
    !reader.done
  ) {
    throw new SyntaxError("Cannot decode certificate: a field is not allowed");
  }
  const mayIssue = flags === MAY_ISSUE;
  const fields = { sessionKey, mayIssue, notBefore, notAfter, user, claims };
  return { ...fields, bytes, issuerKey };
}

/** The session key in a certificate's bytes, which are known to be one. */
export function sessionKeyIn(certificate: Uint8Array): Uint8Array {
  return certificate.subarray(2, 34);
}

/** May the session of a certificate's bytes issue others? */
export function mayIssueIn(certificate: Uint8Array): boolean {
  return certificate[1] === MAY_ISSUE;
}

/** The checked certificates of a repository, by session key. */
export class Certificates {
  readonly #byKey = new Map<string, Certificate[]>();
  /** An issuer's stands before those that it signed, whatever keys they are of. */
  readonly #inOrder: Certificate[] = [];

  /** How many there are. */
  get size(): number {
    return this.#inOrder.length;
  }

  /** Takes a certificate that {@linkcode checkCertificate} found sound. */
  add(certificate: Certificate): void {
    const key = nameOf(certificate.sessionKey, 0, 32);
    if (this.has(certificate)) return;
    getOrMake(this.#byKey, key, () => []).push(certificate);
    this.#inOrder.push(certificate);
  }

  /** Is the very same certificate here? */
  has(certificate: Certificate): boolean {
    return this.of(nameOf(certificate.sessionKey, 0, 32))
      .some((known) => equalBytes(known.bytes, certificate.bytes));
  }

  /** Certificates of a key, given as 32 characters, one a byte. */
  of(key: string): readonly Certificate[] {
    return this.#byKey.get(key) ?? [];
  }

  /** May the key, given as bytes, issue for all of these wall milliseconds? */
  mayIssue(key: Uint8Array, from: number, to = from): boolean {
    return this.of(nameOf(key, 0, 32)).some((own) =>
      own.mayIssue && own.notBefore <= from && to <= own.notAfter
    );
  }

  /** A certificate of the key that covers commits of these wall milliseconds. */
  covering(key: string, from: number, to = from): Certificate | undefined {
    return this.of(key).find((known) =>
      known.notBefore <= from && to <= known.notAfter
    );
  }

  /** Those that came when there were so many already. */
  since(count: number): readonly Certificate[] {
    return this.#inOrder.slice(count);
  }

  /** All of them, in the order they came. */
  [Symbol.iterator](): Iterator<Certificate> {
    return this.#inOrder[Symbol.iterator]();
  }
}

/** Is the certificate sound, and is there room for it? `undefined` when it is. */
export function checkCertificate(
  certificate: Certificate,
  rootKey: Uint8Array,
  known: Certificates,
): Refusal | undefined {
  return checkIssued(certificate, rootKey, known) ??
    checkSame(certificate, known) ?? checkRoom(certificate, known);
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
  const { bytes, issuerKey, notBefore, notAfter } = certificate;
  const mayIssue = equalBytes(issuerKey, rootKey) ||
    known.mayIssue(issuerKey, notBefore, notAfter);
  if (!mayIssue) {
    return refuse("bad-certificate", "Its issuer may not issue it");
  }
  const end = bytes.length - SIGNATURE_LENGTH;
  const message = concatBytes(CERTIFICATE_DOMAIN, bytes.subarray(0, end));
  if (!verify(bytes.subarray(end), message, issuerKey)) {
    return refuse("bad-signature", "Its issuer did not sign it");
  }
  return undefined;
}

/**
 * One key, one user, one set of claims: otherwise the judgement of a commit
 * would depend on which certificate came first. A session that becomes another
 * takes a new key.
 */
function checkSame(
  { sessionKey, user, claims, mayIssue }: Certificate,
  known: Certificates,
): Refusal | undefined {
  const [other] = known.of(nameOf(sessionKey, 0, 32));
  const isSame = other === undefined ||
    other.user === user && other.claims === claims &&
      other.mayIssue === mayIssue;
  return isSame
    ? undefined
    : refuse("bad-certificate", "Its key is certified as another session");
}

/** Is there no room for another one? Only issuers could fill it. */
function checkRoom(
  { sessionKey }: Certificate,
  known: Certificates,
): Refusal | undefined {
  const isFull = known.size >= limits.certificatesKeptMax ||
    known.of(nameOf(sessionKey, 0, 32)).length >= limits.certificatesOfKeyMax;
  return isFull
    ? refuse("too-large", "There are too many certificates")
    : undefined;
}
