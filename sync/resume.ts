/**
 * What a client keeps of a server between connections, per repository.
 *
 * `resume = 1 | genesis id {32} | flags u8 | epoch {16} | position varint | check {8} | uploaded to varint |
 * commits varint | witness bytes | proved bytes | certificates u8 | (bytes)* | summary bytes`. Kept lazily: an older state is
 * as sound as the newest, it only costs bytes. A state that does not fit is none.
 *
 * @module
 */

import type { RepositoryPort } from "../repo/port.ts";
import { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import { readCount } from "../repo/canonical.ts";
import { readSummary } from "./summary.ts";

/** A position in a server's log, under the life of that log. */
export interface Cursor {
  /** 16 bytes. */
  readonly epoch: Uint8Array;
  readonly position: number;
  /** 8 bytes: the server's proof to itself that it gave the position out. */
  readonly check: Uint8Array;
}

/** What a client keeps. */
export interface ResumeState {
  /** Of which repository. */
  readonly genesisId: Uint8Array;
  /** Everything of the server's log before it is durable here. */
  readonly cursor: Cursor | undefined;
  /** Own log address: the server of that cursor has everything before it. */
  readonly uploadedTo: number;
  /** How many commits were here then: fewer now, and the addresses mean nothing. */
  readonly commits: number;
  /** The newest witness that was sound; empty: none. */
  readonly witness: Uint8Array;
  /** The witness that was found equal last; empty: none. */
  readonly proved: Uint8Array;
  /** The certificates of its signer, own first. */
  readonly certificates: readonly Uint8Array[];
  /** The summary that its digest is of. */
  readonly summary: Uint8Array;
}

const FORMAT = 1;
const HAS_CURSOR = 1;
const NOTHING = new Uint8Array();

/** The state before the first connection. */
export function emptyResume(genesisId: Uint8Array): ResumeState {
  return {
    genesisId,
    cursor: undefined,
    uploadedTo: 0,
    commits: 0,
    witness: NOTHING,
    proved: NOTHING,
    certificates: [],
    summary: NOTHING,
  };
}

/** The kept cursor, where the kept addresses are of this log and little would be sent twice. */
export function usableCursor(
  { cursor, uploadedTo, commits }: ResumeState,
  port: RepositoryPort,
): Cursor | undefined {
  const isOfThisLog = commits <= port.commits &&
    uploadedTo <= port.shareable && port.isStart(uploadedTo);
  const again = port.shareable - uploadedTo;
  return isOfThisLog && again <= limits.resendBytesMax ? cursor : undefined;
}

/** The bytes of a state: at most `resumeBytesMax`, without the summary where it does not fit. */
export function encodeResume(state: ResumeState): Uint8Array {
  const whole = encode(state);
  if (whole.length <= limits.resumeBytesMax) return whole;
  return encode({
    ...state,
    proved: NOTHING,
    certificates: [],
    summary: NOTHING,
  });
}

function encode(state: ResumeState): Uint8Array {
  const writer = new ByteWriter(512);
  const { cursor } = state;
  writer.u8(FORMAT);
  writer.bytes(state.genesisId);
  writer.u8(cursor === undefined ? 0 : HAS_CURSOR);
  if (cursor !== undefined) {
    writer.bytes(cursor.epoch);
    writer.varint(cursor.position);
    writer.bytes(cursor.check);
  }
  writer.varint(state.uploadedTo);
  writer.varint(state.commits);
  writeBytes(writer, state.witness);
  writeBytes(writer, state.proved);
  writer.u8(state.certificates.length);
  for (const bytes of state.certificates) writeBytes(writer, bytes);
  writeBytes(writer, state.summary);
  return writer.copy();
}

function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

/** Reads a state; `SyntaxError` when the bytes are none, for which {@linkcode emptyResume} stands in. */
export function decodeResume(bytes: Uint8Array): ResumeState {
  const reader = new ByteReader(bytes);
  if (bytes.length > limits.resumeBytesMax || reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode resume state: its form is unknown");
  }
  const genesisId = reader.take(32).slice();
  const flags = reader.u8();
  const state: ResumeState = {
    genesisId,
    cursor: flags === HAS_CURSOR ? readCursor(reader) : undefined,
    uploadedTo: readCount(reader),
    commits: readCount(reader),
    witness: readBytes(reader),
    proved: readBytes(reader),
    certificates: readList(reader),
    summary: readBytes(reader),
  };
  if (flags > HAS_CURSOR || !reader.done) {
    throw new SyntaxError("Cannot decode resume state: a field is not allowed");
  }
  readSummary(state.summary);
  return state;
}

/** Reads a cursor: shared with the frames, where it stands alike. */
export function readCursor(reader: ByteReader): Cursor {
  const epoch = reader.take(16).slice();
  const position = readCount(reader);
  return { epoch, position, check: reader.take(8).slice() };
}

function readBytes(reader: ByteReader): Uint8Array {
  return reader.take(readCount(reader)).slice();
}

function readList(reader: ByteReader): Uint8Array[] {
  const count = reader.u8();
  if (count > limits.certificatesMax) {
    throw new SyntaxError("Cannot decode resume state: too many certificates");
  }
  return Array.from({ length: count }, () => readBytes(reader));
}
