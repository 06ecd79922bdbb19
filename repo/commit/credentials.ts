/**
 * Credentials: the records of a log that are no commits and travel. Certificates
 * say who may write, revocations who may no more, voids what authors gave up,
 * redactions what is erased, and statements what their kinds explain.
 *
 * @module
 */

import { isStatement, recordKind } from "../log/format.ts";
import {
  type Certificate,
  Certificates,
  decodeCertificate,
} from "./certificate.ts";
import { type Redaction, redactionLayout, Redactions } from "./redaction.ts";
import {
  decodeRevocation,
  type Revocation,
  Revocations,
} from "./revocation.ts";
import { decodeStatement, type Statement, Statements } from "./statement.ts";
import { type Void, voidLayout, Voids } from "./void.ts";

/** A credential: well formed, not yet checked. */
export type Credential =
  | { readonly what: "certificate"; readonly one: Certificate }
  | { readonly what: "revocation"; readonly one: Revocation }
  | { readonly what: "void"; readonly one: Void }
  | { readonly what: "redaction"; readonly one: Redaction }
  | { readonly what: "statement"; readonly one: Statement };

/** Is it the kind of a credential? */
export function isCredential(kind: number): boolean {
  return kind === recordKind.certificate || kind === recordKind.revocation ||
    kind === recordKind.void || kind === recordKind.redaction ||
    isStatement(kind);
}

/** Reads a record of such a kind; `SyntaxError` when it is none. */
export function decodeCredential(kind: number, bytes: Uint8Array): Credential {
  if (kind === recordKind.certificate) {
    return { what: "certificate", one: decodeCertificate(bytes) };
  }
  if (kind === recordKind.void) {
    return { what: "void", one: voidLayout.decode(bytes) };
  }
  if (kind === recordKind.redaction) {
    return { what: "redaction", one: redactionLayout.decode(bytes) };
  }
  return kind === recordKind.revocation
    ? { what: "revocation", one: decodeRevocation(bytes) }
    : { what: "statement", one: decodeStatement(kind, bytes) };
}

/** The number by which a log knows a credential. */
export function kindOfCredential(credential: Credential): number {
  return credential.what === "statement"
    ? credential.one.kind
    : recordKind[credential.what];
}

/** The checked credentials of a repository. */
export class Credentials {
  readonly certificates: Certificates = new Certificates();
  readonly revocations: Revocations = new Revocations();
  readonly voids: Voids = new Voids();
  readonly redactions: Redactions = new Redactions();
  readonly statements: Statements = new Statements();

  /** Does it say nothing that is not known? */
  has(credential: Credential): boolean {
    switch (credential.what) {
      case "certificate":
        return this.certificates.has(credential.one);
      case "revocation":
        return this.revocations.tellsNothingNew(credential.one);
      case "void":
        return this.voids.has(credential.one);
      case "redaction":
        return this.redactions.has(credential.one);
      case "statement":
        return this.statements.has(credential.one);
    }
  }

  /** Takes one that was found sound. */
  add(credential: Credential): void {
    switch (credential.what) {
      case "certificate":
        return this.certificates.add(credential.one);
      case "revocation":
        return this.revocations.add(credential.one);
      case "void":
        return this.voids.add(credential.one);
      case "redaction":
        return this.redactions.add(credential.one);
      case "statement":
        return this.statements.add(credential.one);
    }
  }

  /** All of them, as a log has them; who vouches for others comes before them. */
  *[Symbol.iterator](): Iterator<{ kind: number; bytes: Uint8Array }> {
    for (const { bytes } of this.certificates) {
      yield { kind: recordKind.certificate, bytes };
    }
    for (const { bytes } of this.revocations) {
      yield { kind: recordKind.revocation, bytes };
    }
    for (const { bytes } of this.voids) yield { kind: recordKind.void, bytes };
    for (const { bytes } of this.redactions) {
      yield { kind: recordKind.redaction, bytes };
    }
    for (const { kind, bytes } of this.statements) yield { kind, bytes };
  }
}
