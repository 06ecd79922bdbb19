/**
 * Statements: signed records of kinds 32 to 47, which every replica keeps and
 * passes on, whether it knows what they say or not (law 13). The kind is a part of
 * the signature's domain, so that a statement of one kind is none of another.
 *
 * Architecture invariant: what nobody here understands comes from who may issue,
 * and is bounded all the same (law 10).
 */

import { bytes, fixed, struct, u48 } from "../../src/base/layout.ts";
import { limits } from "../../src/base/limits.ts";
import { nameOf } from "./commit.ts";
import { type Signed, SignedLayout } from "./signed_record.ts";

/** What an issuer says in a kind that may not be known. */
export interface StatementFields {
  readonly genesisId: Uint8Array;
  readonly wall: number;
  /** What only its kind explains. */
  readonly content: Uint8Array;
}

const layout = struct({ genesisId: fixed(32), wall: u48, content: bytes });

/** The bytes of statements of a kind, 32 to 47. */
export function statementLayout(kind: number): SignedLayout<StatementFields> {
  const domain = `sheaf statement ${kind}`;
  return new SignedLayout(domain, layout, limits.statementBytesMax);
}

/** A decoded statement: well formed, not yet checked. */
export interface Statement extends StatementFields, Signed {
  /** What it is: a log's number. */
  readonly kind: number;
}

export function decodeStatement(kind: number, foreign: Uint8Array): Statement {
  return { ...statementLayout(kind).decode(foreign), kind };
}

/** The checked statements of a repository. */
export class Statements {
  /** By kind and bytes, in the order they came. */
  readonly #known = new Map<string, Statement>();
  readonly #bytesOfKey = new Map<string, number>();

  get size(): number {
    return this.#known.size;
  }

  add(statement: Statement): void {
    if (this.has(statement)) return;
    this.#known.set(nameIn(statement), statement);
    const key = keyOf(statement);
    const bytes = this.#bytesOfKey.get(key) ?? 0;
    this.#bytesOfKey.set(key, bytes + statement.bytes.length);
  }

  has(statement: Statement): boolean {
    return this.#known.has(nameIn(statement));
  }

  /** Is there room for another one, of its issuer too? */
  hasRoomFor(statement: Statement): boolean {
    const bytes = this.#bytesOfKey.get(keyOf(statement)) ?? 0;
    return this.size < limits.statementsMax &&
      bytes + statement.bytes.length <= limits.statementsOfKeyBytesMax;
  }

  [Symbol.iterator](): Iterator<Statement> {
    return this.#known.values();
  }
}

function keyOf({ issuerKey }: Statement): string {
  return nameOf(issuerKey, 0, 32);
}

function nameIn({ kind, bytes }: Statement): string {
  return `${kind} ${nameOf(bytes, 0, bytes.length)}`;
}
