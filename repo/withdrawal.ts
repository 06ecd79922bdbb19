/**
 * The records of a refusal, as docs/format.md has them: a withdrawal takes own
 * commits back that nobody else has seen, a resolution says what became of a
 * refused one. They never travel.
 *
 * @module
 */

import {
  type ByteReader,
  ByteWriter,
  decodeText,
  encodeText,
} from "../src/base/bytes.ts";
import type { Hlc, Stamp } from "../src/base/hlc.ts";
import { limits } from "../src/base/limits.ts";
import { readCount, readText } from "./canonical.ts";
import { chainBytes, chainBytesLength, chainName } from "./commit.ts";

const FORMAT = 1;
const DISCARDED = 0;
const RETRIED = 1;
/** Of very many refusals each says less, so that the record stays one. */
const TEXTS_BYTES_MAX = 64 * 1024 * 1024;

/** The end of a chain that is taken back. */
export interface Cut {
  /** Name of the chain: it never goes on here. */
  readonly chain: string;
  /** Number of the first commit that is taken back. */
  readonly from: number;
  /** The clock of the commit before it: later stamps of the chain are those taken back. */
  readonly after: Hlc;
}

/** A commit of the first cut that was refused. */
export interface RefusedRecord extends Hlc {
  readonly number: number;
  /** Log address of the batch that holds it. */
  readonly address: number;
  readonly reason: string;
  readonly rule: string;
  readonly detail: string;
  readonly kept: boolean;
}

/** What one withdrawal does. */
export interface Withdrawal {
  /** The refused chain first, then own chains that descend from its end. */
  readonly cuts: readonly Cut[];
  /** Other own chains there were: none of them goes on here either. */
  readonly closed: readonly string[];
  /** Name of the chain that goes on. */
  readonly chain: string;
  /** How many commits are written again there; without all of them it never happened. */
  readonly count: number;
  readonly refused: readonly RefusedRecord[];
}

/** A resolution of this number is of no commit: it notes that its chain begins here. */
export const BEGINNING: number = Number.MAX_SAFE_INTEGER;

/** What became of a refused commit. */
export interface Resolution {
  readonly chain: string;
  readonly number: number;
  /** The commit that says the same again; `undefined` when it was discarded. */
  readonly retried: (Stamp & { readonly number: number }) | undefined;
}

/** The body of a withdrawal's record. */
export function encodeWithdrawal(withdrawal: Withdrawal): Uint8Array {
  const { cuts, closed, chain, count, refused } = withdrawal;
  const writer = new ByteWriter(256);
  writer.u8(FORMAT);
  writer.varint(cuts.length);
  for (const { chain, from, after } of cuts) {
    writer.bytes(chainBytes(chain));
    writer.varint(from);
    writeHlc(writer, after);
  }
  writer.varint(closed.length);
  for (const chain of closed) writer.bytes(chainBytes(chain));
  writer.bytes(chainBytes(chain));
  writer.varint(count);
  writer.varint(refused.length);
  const bytesMax = Math.min(
    limits.refusalTextBytesMax,
    Math.floor(TEXTS_BYTES_MAX / (3 * refused.length)),
  );
  for (const commit of refused) {
    writer.varint(commit.number);
    writeHlc(writer, commit);
    writer.varint(commit.address);
    writer.text(shortened(commit.reason, bytesMax));
    writer.text(shortened(commit.rule, bytesMax));
    writer.text(shortened(commit.detail, bytesMax));
    writer.u8(commit.kept ? 1 : 0);
  }
  return writer.copy();
}

/** Reads a withdrawal's body; `SyntaxError` when it is none. */
export function decodeWithdrawal(reader: ByteReader): Withdrawal {
  checkFormat(reader);
  const cuts: Cut[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    const chain = readChain(reader);
    const from = readCount(reader);
    cuts.push({ chain, from, after: readHlc(reader) });
  }
  const closed: string[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    closed.push(readChain(reader));
  }
  const chain = readChain(reader);
  const count = readCount(reader);
  const refused: RefusedRecord[] = [];
  for (let left = readCount(reader); left > 0; left--) {
    refused.push(readRefused(reader));
  }
  if (!reader.done || cuts.length === 0) malformed();
  return { cuts, closed, chain, count, refused };
}

function readRefused(reader: ByteReader): RefusedRecord {
  return {
    number: readCount(reader),
    ...readHlc(reader),
    address: readCount(reader),
    reason: readText(reader, limits.refusalTextBytesMax),
    rule: readText(reader, limits.refusalTextBytesMax),
    detail: readText(reader, limits.refusalTextBytesMax),
    kept: reader.u8() === 1,
  };
}

/** The body of a resolution's record. */
export function encodeResolution(resolution: Resolution): Uint8Array {
  const { chain, number, retried } = resolution;
  const writer = new ByteWriter(128);
  writer.u8(FORMAT);
  writer.bytes(chainBytes(chain));
  writer.varint(number);
  writer.u8(retried === undefined ? DISCARDED : RETRIED);
  if (retried !== undefined) {
    writer.bytes(chainBytes(retried.chain));
    writer.varint(retried.number);
    writeHlc(writer, retried);
  }
  return writer.copy();
}

/** Reads a resolution's body; `SyntaxError` when it is none. */
export function decodeResolution(reader: ByteReader): Resolution {
  checkFormat(reader);
  const chain = readChain(reader);
  const number = readCount(reader);
  const how = reader.u8();
  if (how > RETRIED) malformed();
  const retried = how === DISCARDED ? undefined : {
    chain: readChain(reader),
    number: readCount(reader),
    ...readHlc(reader),
  };
  if (!reader.done) malformed();
  return { chain, number, retried };
}

function checkFormat(reader: ByteReader): void {
  if (reader.u8() !== FORMAT) malformed();
}

function malformed(): never {
  throw new SyntaxError("Cannot decode withdrawal: its form is not known");
}

function writeHlc(writer: ByteWriter, { wall, count }: Hlc): void {
  writer.u48(wall);
  writer.u16(count);
}

function readHlc(reader: ByteReader): Hlc {
  return { wall: reader.u48(), count: reader.u16() };
}

function readChain(reader: ByteReader): string {
  const at = reader.at;
  reader.skip(chainBytesLength);
  return chainName(reader.bytes, at);
}

/** What a server says is kept as far as a person reads it. */
function shortened(text: string, bytesMax: number): string {
  const sound = text.toWellFormed();
  const bytes = encodeText(sound);
  if (bytes.length <= bytesMax) return sound;
  let end = bytesMax;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return decodeText(bytes.subarray(0, end));
}
