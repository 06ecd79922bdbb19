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
import {
  bytes,
  certificates,
  copied,
  count,
  type Cursor,
  cursor,
  flagged,
  struct,
  type ValueOf,
} from "./frame_fields.ts";
import { readSummary } from "./summary.ts";

const FORMAT = 1;
const NOTHING = new Uint8Array();

const fields = struct({
  /** Of which repository. */
  genesisId: copied(32),
  /** Everything of the server's log before it is durable here. */
  cursor: flagged(cursor),
  /** Own log address: the server of that cursor has everything before it. */
  uploadedTo: count,
  /** How many commits were here then: fewer now, and the addresses mean nothing. */
  commits: count,
  /** The newest witness that was sound; empty: none. */
  witness: bytes,
  /** The witness that was found equal last; empty: none. */
  proved: bytes,
  /** The certificates of its signer, own first. */
  certificates,
  /** The summary that its digest is of. */
  summary: bytes,
});

/** What a client keeps. */
export type ResumeState = ValueOf<typeof fields>;

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
  writer.u8(FORMAT);
  fields.write(writer, state);
  return writer.copy();
}

/** Reads a state; `SyntaxError` when the bytes are none, for which {@linkcode emptyResume} stands in. */
export function decodeResume(bytes: Uint8Array): ResumeState {
  const reader = new ByteReader(bytes);
  if (bytes.length > limits.resumeBytesMax || reader.u8() !== FORMAT) {
    throw new SyntaxError("Cannot decode resume state: its form is unknown");
  }
  const state = fields.read(reader);
  if (!reader.done) {
    throw new SyntaxError("Cannot decode resume state: it has no end");
  }
  readSummary(state.summary);
  return state;
}
