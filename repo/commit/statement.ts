/**
 * Statements: signed records of kinds 32 to 47, which every replica keeps and
 * passes on, whether it knows what they say or not (law 13).
 *
 * `statement = 1 | genesis id {32} | wall u48 | content varint {n} | signer {32} |
 * signature {64}`. The signature covers the kind and everything before it under a
 * domain of its own, so that a statement of one kind is none of another. Who says
 * it is the root key, or a session that may issue at its wall.
 *
 * Architecture invariant: what nobody here understands is bounded by who signed it
 * (law 10).
 *
 * @module
 */

import { ByteReader, concatBytes, encodeText } from "../../src/base/bytes.ts";
import { limits } from "../../src/base/limits.ts";
import { readBytes } from "./canonical.ts";
import { nameOf } from "./commit.ts";

const FORMAT = 1;
const SIGNATURE_LENGTH = 64;
const DOMAIN = encodeText("sheaf statement 1\n");

/** What somebody says in one. */
export interface StatementFields {
  /** What it is: a log's number, 32 to 47. */
  readonly kind: number;
  /** The repository that it is said in. */
  readonly genesisId: Uint8Array;
  /** Wall milliseconds. */
  readonly wall: number;
  /** What only its kind explains. */
  readonly content: Uint8Array;
}

/** A decoded statement: well formed, not yet checked. */
export interface Statement extends StatementFields {
  /** All of it, as it is stored and travels. */
  readonly bytes: Uint8Array;
  /** The key that signed it: 32 bytes. */
  readonly signerKey: Uint8Array;
}

/** What a statement's signature signs, and the signature. */
export function signedPart(
  { kind, bytes }: Statement,
): { message: Uint8Array; signature: Uint8Array } {
  const end = bytes.length - SIGNATURE_LENGTH;
  const unsigned = bytes.subarray(0, end);
  return {
    message: concatBytes(DOMAIN, Uint8Array.of(kind), unsigned),
    signature: bytes.subarray(end),
  };
}

/** Reads a statement and keeps a copy; `SyntaxError` when the bytes are none. */
export function decodeStatement(kind: number, foreign: Uint8Array): Statement {
  const end = foreign.length - SIGNATURE_LENGTH;
  if (foreign.length > limits.statementBytesMax || end < 0) {
    throw new SyntaxError("Cannot decode statement: its size is not allowed");
  }
  const bytes = foreign.slice();
  const reader = new ByteReader(bytes, 0, end);
  if (reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode statement: its format is unknown");
  }
  const genesisId = reader.take(32);
  const wall = reader.u48();
  const content = readBytes(reader);
  const signerKey = reader.take(32);
  if (!reader.done) {
    throw new SyntaxError(
      "Cannot decode statement: there are bytes after its end",
    );
  }
  return { kind, genesisId, wall, content, bytes, signerKey };
}

/** The checked statements of a repository. */
export class Statements {
  /** By kind and bytes, in the order they came. */
  readonly #known = new Map<string, Statement>();
  readonly #bytesOfKey = new Map<string, number>();

  /** How many there are. */
  get size(): number {
    return this.#known.size;
  }

  /** Takes one that was found sound. */
  add(statement: Statement): void {
    if (this.has(statement)) return;
    this.#known.set(nameIn(statement), statement);
    const key = keyOf(statement);
    const bytes = this.#bytesOfKey.get(key) ?? 0;
    this.#bytesOfKey.set(key, bytes + statement.bytes.length);
  }

  /** Is the very same one here? */
  has(statement: Statement): boolean {
    return this.#known.has(nameIn(statement));
  }

  /** Is there room for another one, of its signer too? */
  hasRoomFor(statement: Statement): boolean {
    const bytes = this.#bytesOfKey.get(keyOf(statement)) ?? 0;
    return this.size < limits.statementsMax &&
      bytes + statement.bytes.length <= limits.statementsOfKeyBytesMax;
  }

  /** All of them, in the order they came. */
  [Symbol.iterator](): Iterator<Statement> {
    return this.#known.values();
  }
}

function keyOf({ signerKey }: Statement): string {
  return nameOf(signerKey, 0, 32);
}

function nameIn({ kind, bytes }: Statement): string {
  return `${kind} ${nameOf(bytes, 0, bytes.length)}`;
}
