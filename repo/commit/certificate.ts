/**
 * Session certificates: who may sign in whose name, and until when.
 *
 * Its issuer is the root key, or a key whose own certificate may issue and spans
 * the dates.
 * Dates are compared with commits' clocks, never with a wall clock (law 7).
 */

import type { SessionSigner, Signer } from "../../crypto/keys.ts";
import { encodeText, equalBytes } from "../../src/base/bytes.ts";
import {
  assert,
  DatabaseError,
  type Refusal,
  refuse,
} from "../../src/base/errors.ts";
import { wallMax } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import {
  choice,
  type Field,
  fixed,
  readText,
  struct,
  textUpTo,
  u48,
  unfit,
} from "../../src/base/layout.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";
import { nameOf } from "./commit.ts";
import { getOrMake } from "../../src/base/collections.ts";

const jsonObject: Field<string> = {
  ...textUpTo(limits.claimsBytesMax),
  read(reader) {
    const text = readText(reader, limits.claimsBytesMax);
    if (!isJsonObject(text)) throw unfit("claims are no JSON object");
    return text;
  },
};

export interface CertificateFields {
  /** May it issue certificates within its own dates? */
  readonly mayIssue: boolean;
  /** May it redact? Then it issues nothing, and the root key itself certified it. */
  readonly mayRedact?: boolean;
  /** The key that signs batches: 32 bytes. */
  readonly sessionKey: Uint8Array;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Whose commits they are. */
  readonly user: string;
  /** A JSON object for rules to read. */
  readonly claims: string;
}

/** A decoded certificate: well formed, not yet checked. */
export interface Certificate extends CertificateFields, Signed {}

const rights = ["none", "issue", "redact"] as const;

const stored = struct({
  right: choice(rights),
  sessionKey: fixed(32),
  notBefore: u48,
  notAfter: u48,
  user: textUpTo(limits.userBytesMax),
  claims: jsonObject,
});

const layout: Field<CertificateFields> & Pick<typeof stored, "fields"> = {
  ...stored,
  write(writer, { mayIssue, mayRedact, ...fields }) {
    const right = mayIssue ? "issue" : mayRedact === true ? "redact" : "none";
    stored.write(writer, { ...fields, right });
  },
  read(reader) {
    const { right, ...fields } = stored.read(reader);
    const mayRedact = right === "redact";
    return { ...fields, mayIssue: right === "issue", mayRedact };
  },
};

export const certificateLayout: SignedLayout<CertificateFields> =
  new SignedLayout(
    "sheaf certificate 1",
    layout,
    limits.userBytesMax + limits.claimsBytesMax + 256,
  );

export function issueCertificate(
  fields: CertificateFields,
  issuer: Signer,
): Certificate {
  checkFields(fields);
  return certificateLayout.sign(fields, issuer);
}

export async function issueCertificateLater(
  fields: CertificateFields,
  issuer: SessionSigner,
): Promise<Certificate> {
  checkFields(fields);
  return await certificateLayout.signLater(fields, issuer);
}

function checkFields(fields: CertificateFields): void {
  const { sessionKey, notBefore, notAfter, user, claims } = fields;
  const dated = Number.isInteger(notBefore) && Number.isInteger(notAfter) &&
    notBefore >= 0 && notBefore <= notAfter && notAfter <= wallMax;
  assert(
    !(fields.mayIssue && fields.mayRedact === true),
    "who redacts issues nothing",
  );
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
  const certificate = certificateLayout.decode(foreign);
  if (certificate.notBefore > certificate.notAfter) {
    throw unfit("a certificate ends before it begins");
  }
  return certificate;
}

/** The session key in a certificate's bytes, which are known to be one. */
export function sessionKeyIn(certificate: Uint8Array): Uint8Array {
  return certificate.subarray(2, 34);
}

/** May the session of a certificate's bytes issue others? */
export function mayIssueIn(certificate: Uint8Array): boolean {
  return certificate[1] === 1;
}

/** The checked certificates of a repository, by session key. */
export class Certificates {
  readonly #byKey = new Map<string, Certificate[]>();
  /** An issuer's stands before those that it signed, whatever keys they are of. */
  readonly #inOrder: Certificate[] = [];

  get size(): number {
    return this.#inOrder.length;
  }

  add(certificate: Certificate): void {
    const key = nameOf(certificate.sessionKey, 0, 32);
    if (this.has(certificate)) return;
    getOrMake(this.#byKey, key, () => []).push(certificate);
    this.#inOrder.push(certificate);
  }

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

  /** May the key, given as bytes, redact at a wall millisecond? */
  mayRedact(key: Uint8Array, at: number): boolean {
    return this.of(nameOf(key, 0, 32)).some((own) =>
      own.mayRedact === true && own.notBefore <= at && at <= own.notAfter
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

  [Symbol.iterator](): Iterator<Certificate> {
    return this.#inOrder[Symbol.iterator]();
  }
}

/**
 * May its issuer issue it? `undefined` when it may. Whether it did is asked of the
 * signature, by the door.
 */
export function checkIssuer(
  { issuerKey, notBefore, notAfter, mayRedact }: Certificate,
  rootKey: Uint8Array,
  known: Certificates,
): Refusal | undefined {
  // A server that is online all day must not make itself somebody who may erase.
  const mayIssue = equalBytes(issuerKey, rootKey) ||
    mayRedact !== true && known.mayIssue(issuerKey, notBefore, notAfter);
  return mayIssue
    ? undefined
    : refuse("bad-certificate", "Its issuer may not issue it");
}

/** Does it say what others of its key do, and is there room for it? `undefined` when it is so. */
export function checkPlace(
  certificate: Certificate,
  known: Certificates,
): Refusal | undefined {
  return checkSame(certificate, known) ?? checkRoom(certificate, known);
}

/**
 * One key, one user, one set of claims: otherwise the judgement of a commit
 * would depend on which certificate came first. A session that becomes another
 * takes a new key.
 */
function checkSame(
  { sessionKey, user, claims, mayIssue, mayRedact }: Certificate,
  known: Certificates,
): Refusal | undefined {
  const [other] = known.of(nameOf(sessionKey, 0, 32));
  const isSame = other === undefined ||
    other.user === user && other.claims === claims &&
      other.mayIssue === mayIssue && other.mayRedact === mayRedact;
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
