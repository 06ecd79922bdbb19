/**
 * Joining batches: neighbours of one chain become one batch under the last seal.
 *
 * A seal signs the id of the last commit, and ids are chained: the last seal
 * covers everything before it. Bytes of commits are copied and never read.
 *
 * Architecture invariant: a commit is its bytes (law 1); joining changes none
 * of them.
 *
 * @module
 */

import { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import { assert } from "../src/base/errors.ts";
import { type BatchHead, sealLength, writeHead } from "./batch.ts";
import { chainBytesLength, chainName } from "./commit.ts";

/** Bytes before the commits of a batch: at most this. */
const HEAD_BYTES_MAX = 1 + chainBytesLength + 2 * 8;

/** A batch of the own log, with what stands before its commits. */
export interface BatchPart extends BatchHead {
  /** All of it. */
  readonly bytes: Uint8Array;
}

/** Reads what stands before the commits of a batch that was admitted. */
export function batchHead(bytes: Uint8Array): BatchHead {
  const reader = new ByteReader(bytes);
  reader.skip(1 + chainBytesLength);
  const first = reader.varint();
  const count = reader.varint();
  return { chain: chainName(bytes, 1), first, count, start: reader.at };
}

/** Does `next` go on in its chain where `last` ends? */
export function isNeighbour(last: BatchHead, next: BatchHead): boolean {
  return last.chain === next.chain && last.first + last.count === next.first;
}

/** One batch of several neighbours, all signed or all unsigned. */
export function joinBatches(
  parts: readonly BatchPart[],
  isSigned: boolean,
): Uint8Array {
  const [first] = parts;
  const last = parts[parts.length - 1];
  assert(first !== undefined && last !== undefined, "there is a batch");
  if (parts.length === 1) return first.bytes;
  const tail = isSigned ? sealLength : 0;
  let [count, length] = [0, HEAD_BYTES_MAX + tail];
  for (const part of parts) {
    count += part.count;
    length += part.bytes.length - tail - part.start;
  }
  const writer = new ByteWriter(length);
  writeHead(writer, first.chain, first.first, count);
  for (const { bytes, start } of parts) {
    writer.bytes(bytes.subarray(start, bytes.length - tail));
  }
  writer.bytes(last.bytes.subarray(last.bytes.length - tail));
  return writer.view();
}
