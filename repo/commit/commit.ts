/**
 * A commit's bytes: its header, its id, and the name of its chain.
 *
 * `header = wall u48 | counter u16 | parents u8 | (chain {40} | number varint)*`
 * and `id(n) = SHA-256(id(n-1) ‖ header(n) ‖ SHA-256(payload(n)))`. A parent is
 * a position in another chain, see docs/decisions/0002-parents-are-positions.md.
 * Of a payload it only asks whether it is a stub, which has the hash of another.
 *
 * Architecture invariant: a commit is its bytes (law 1); an id is computed from
 * the bytes that are stored and travel, never from decoded fields.
 */

import { sha256, sha256Into } from "../../crypto/sha256.ts";
import {
  type ByteReader,
  ByteWriter,
  concatBytes,
  encodeText,
  toHex,
} from "../../src/base/bytes.ts";
import { assert } from "../../src/base/errors.ts";
import type { Hlc } from "../../src/base/hlc.ts";
import { limits } from "../../src/base/limits.ts";
import type { Field } from "../../src/base/layout.ts";
import { native } from "../../src/base/system.ts";
import { hashInStub, isStub } from "../../src/schema/stub.ts";

/** Bytes of a chain's name: session public key {32}, incarnation {8}. */
export const chainBytesLength = 40;

export const idLength = 32;

const CHAIN_DOMAIN = encodeText("sheaf chain 1\n");
const HEADER_MAX = 9 + limits.parentsMax * (chainBytesLength + 8);
const NO_PARENTS: readonly Position[] = [];

/** Names that were shown last: a history shows the same few with each commit. */
const hexes = new Map<string, string>();
const HEXES_MAX = 64;

/** One place in one chain: it names exactly one commit. */
export interface Position {
  /** Name of the chain: 40 characters, one a byte. */
  readonly chain: string;
  /** 0 for the chain's first commit. */
  readonly number: number;
}

export interface Header extends Hlc {
  /** Heads of other chains that its writer had seen, in ascending order of chain. */
  readonly parents: readonly Position[];
}

/** Some bytes as a string of one character a byte, to serve as a key of maps. */
export function nameOf(bytes: Uint8Array, start: number, end: number): string {
  if (native.latin1 !== undefined) return native.latin1(bytes, start, end);
  return String.fromCharCode(...bytes.subarray(start, end));
}

/** The name of the chain whose 40 bytes start at `at`. */
export function chainName(bytes: Uint8Array, at = 0): string {
  assert(at + chainBytesLength <= bytes.length, "a chain's name is 40 bytes");
  return nameOf(bytes, at, at + chainBytesLength);
}

export function readChain(reader: ByteReader): string {
  const { at } = reader;
  reader.skip(chainBytesLength);
  return chainName(reader.bytes, at);
}

export const chainField: Field<string> = {
  says: "{40}",
  write: (writer, name) => writer.bytes(chainBytes(name)),
  read: readChain,
};

export function chainBytes(name: string): Uint8Array<ArrayBuffer> {
  assert(name.length === chainBytesLength, "a chain's name is 40 bytes");
  const bytes = new Uint8Array(chainBytesLength);
  for (let i = 0; i < chainBytesLength; i++) bytes[i] = name.charCodeAt(i);
  return bytes;
}

export function chainHex(name: string): string {
  let hex = hexes.get(name);
  if (hex === undefined) {
    if (hexes.size >= HEXES_MAX) hexes.clear();
    hexes.set(name, hex = toHex(chainBytes(name)));
  }
  return hex;
}

/** A chain's name for people: the start of its key and of its incarnation. */
export function displayChain(name: string): string {
  const hex = chainHex(name);
  return `${hex.slice(0, 8)}-${hex.slice(64, 68)}`;
}

export function sessionKeyOf(name: string): Uint8Array<ArrayBuffer> {
  return chainBytes(name).subarray(0, 32);
}

/** Joins a session key and an incarnation {8} to a chain's name. */
export function joinChain(key: Uint8Array, incarnation: Uint8Array): string {
  assert(incarnation.length === 8, "an incarnation is 8 bytes");
  return chainName(concatBytes(key, incarnation));
}

function writeHeader(writer: ByteWriter, header: Header): void {
  const { parents } = header;
  assert(
    parents.length <= limits.parentsMax,
    "a commit has at most 16 parents",
  );
  writer.u48(header.wall);
  writer.u16(header.count);
  writer.u8(parents.length);
  for (let i = 0; i < parents.length; i++) {
    const { chain, number } = parents[i]!;
    assert(i === 0 || parents[i - 1]!.chain < chain, "parents are in order");
    writer.bytes(chainBytes(chain));
    writer.varint(number);
  }
}

export function encodeHeader(header: Header): Uint8Array<ArrayBuffer> {
  if (header.parents.length === 0) return encodeLoneHeader(header);
  const writer = new ByteWriter(9 + header.parents.length * 48);
  writeHeader(writer, header);
  return writer.view();
}

/** Nearly every header: no parents, nine bytes. */
function encodeLoneHeader({ wall, count }: Hlc): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(9);
  const high = Math.floor(wall / 2 ** 32);
  bytes[0] = wall;
  bytes[1] = wall >>> 8;
  bytes[2] = wall >>> 16;
  bytes[3] = wall >>> 24;
  bytes[4] = high;
  bytes[5] = high >>> 8;
  bytes[6] = count;
  bytes[7] = count >>> 8;
  return bytes;
}

/** Reads the parents of a header of `chain`; `SyntaxError` when they are not in order. */
export function readParents(
  reader: ByteReader,
  chain: string,
): readonly Position[] {
  const length = reader.u8();
  if (length === 0) return NO_PARENTS;
  if (length > limits.parentsMax) {
    throw new SyntaxError("Cannot decode commit: it has too many parents");
  }
  const parents: Position[] = [];
  let last = "";
  for (let i = 0; i < length; i++) {
    const parent = readChain(reader);
    if (parent <= last || parent === chain) {
      throw new SyntaxError(
        "Cannot decode commit: its parents are not in order",
      );
    }
    parents.push({ chain: parent, number: reader.varint() });
    last = parent;
  }
  return parents;
}

/** What stands where the predecessor of a chain's first commit would. */
export function chainStart(
  genesisId: Uint8Array,
  chain: string,
): Uint8Array<ArrayBuffer> {
  return sha256(CHAIN_DOMAIN, genesisId, chainBytes(chain));
}

/** Computes ids along a chain: two hashes a commit, nothing allocated but views. */
export class ChainHash {
  readonly #scratch = new Uint8Array(idLength + HEADER_MAX + idLength);
  /** The id of the last commit hashed: a view that the next one overwrites. */
  readonly id: Uint8Array<ArrayBuffer> = this.#scratch.subarray(0, idLength);

  /** Stands after the commit `previousId`. */
  start(previousId: Uint8Array): this {
    assert(previousId.length === idLength, "an id is 32 bytes");
    this.#scratch.set(previousId, 0);
    return this;
  }

  /**
   * Goes on to the commit with these bytes.
   *
   * @param hash of what the payload was, where it was erased
   */
  next(header: Uint8Array, payload: Uint8Array, hash?: Uint8Array): void {
    const end = idLength + header.length;
    this.#scratch.set(header, idLength);
    if (hash !== undefined) this.#scratch.set(hash, end);
    else if (isStub(payload)) this.#scratch.set(hashInStub(payload), end);
    else sha256Into(this.#scratch.subarray(end, end + idLength), payload);
    sha256Into(this.id, this.#scratch.subarray(0, end + idLength));
  }
}
