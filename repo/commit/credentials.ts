/**
 * Credentials: the records of a log that are no commits and travel. Certificates
 * say who may write, revocations who may no more, voids what authors gave up,
 * redactions what is erased, retirements which chains are over, and statements what
 * their kinds explain. One table has all of them: a new one is a row here, and one of
 * the checks in `credential_check.ts`.
 */

import { assert } from "../../src/base/errors.ts";
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
import {
  type Retirement,
  retirementLayout,
  Retirements,
} from "./retirement.ts";
import { decodeStatement, type Statement, Statements } from "./statement.ts";
import { type Void, voidLayout, Voids } from "./void.ts";

/** What each kind says, by the kind's name. */
export interface Said {
  readonly certificate: Certificate;
  readonly revocation: Revocation;
  readonly void: Void;
  readonly redaction: Redaction;
  readonly retirement: Retirement;
  readonly statement: Statement;
}

export type CredentialName = keyof Said;

/** A credential of some kinds: well formed, not yet checked. */
export type CredentialOf<Names extends CredentialName> = {
  [Name in Names]: { readonly what: Name; readonly one: Said[Name] };
}[Names];

export type Credential = CredentialOf<CredentialName>;

/** Those of one kind that were found sound. */
interface List<One> extends Iterable<One & { readonly bytes: Uint8Array }> {
  /** Does it say nothing that is not known? */
  has(one: One): boolean;
  add(one: One): void;
}

/** How a kind is read, what keeps it, and whether it travels where nothing is signed. */
type Kinds = {
  readonly [Name in CredentialName]: {
    readonly kind: number;
    readonly decode: (bytes: Uint8Array, kind: number) => Said[Name];
    readonly inEveryMode?: boolean;
  };
};

/** Who vouches for others comes before them. */
const kinds: Kinds = {
  certificate: { kind: recordKind.certificate, decode: decodeCertificate },
  revocation: { kind: recordKind.revocation, decode: decodeRevocation },
  void: {
    kind: recordKind.void,
    decode: (bytes) => voidLayout.decode(bytes),
  },
  redaction: {
    kind: recordKind.redaction,
    decode: (bytes) => redactionLayout.decode(bytes),
    inEveryMode: true,
  },
  retirement: {
    kind: recordKind.retirement,
    decode: (bytes) => retirementLayout.decode(bytes),
  },
  // Of many kinds: each says its own.
  statement: {
    kind: NaN,
    decode: (bytes, kind) => decodeStatement(kind, bytes),
  },
};

const names = Object.keys(kinds) as CredentialName[];

function nameOfKind(kind: number): CredentialName | undefined {
  if (isStatement(kind)) return "statement";
  return names.find((name) => kinds[name].kind === kind);
}

export function isCredential(kind: number): boolean {
  return nameOfKind(kind) !== undefined;
}

/** Do doors of all modes take it? The others only that where everything is signed. */
export function isTakenUnsigned(kind: number): boolean {
  const name = nameOfKind(kind);
  return name !== undefined && kinds[name].inEveryMode === true;
}

export function decodeCredential(kind: number, bytes: Uint8Array): Credential {
  const what = nameOfKind(kind);
  assert(what !== undefined, "only credentials are read so");
  return { what, one: kinds[what].decode(bytes, kind) } as Credential;
}

export function kindOfCredential(credential: Credential): number {
  return credential.what === "statement"
    ? credential.one.kind
    : kinds[credential.what].kind;
}

/** The checked credentials of a repository. */
export class Credentials {
  readonly certificates: Certificates = new Certificates();
  readonly revocations: Revocations = new Revocations();
  readonly voids: Voids = new Voids();
  readonly redactions: Redactions = new Redactions();
  readonly retirements: Retirements = new Retirements();
  readonly statements: Statements = new Statements();
  readonly #lists: { readonly [Name in CredentialName]: List<Said[Name]> } = {
    certificate: this.certificates,
    revocation: this.revocations,
    void: this.voids,
    redaction: this.redactions,
    retirement: this.retirements,
    statement: this.statements,
  };

  /** Does it say nothing that is not known? */
  has<Name extends CredentialName>({ what, one }: CredentialOf<Name>): boolean {
    return this.#lists[what].has(one);
  }

  add<Name extends CredentialName>({ what, one }: CredentialOf<Name>): void {
    this.#lists[what].add(one);
  }

  /** All of them, as a log has them; who vouches for others comes before them. */
  *[Symbol.iterator](): Iterator<{ kind: number; bytes: Uint8Array }> {
    for (const what of names) {
      for (const one of this.#lists[what]) {
        const kind = kindOfCredential({ what, one } as Credential);
        yield { kind, bytes: one.bytes };
      }
    }
  }
}
