/**
 * Stubs in batches: what others get of commits that were refused, and which
 * commits are the same, be one of them a stub. Loaded with the door.
 *
 * Architecture invariant: a stub has the id of the commit that it stands for, so
 * a batch that holds some is under its seal as before (law 1).
 *
 * @module
 */

import { sha256 } from "../../crypto/sha256.ts";
import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import { encodeStub, hashInStub, isStub } from "../../src/schema/stub.ts";
import { type Batch, type BatchCommit, bytesOf, writeHead } from "./batch.ts";

/** The hash of a commit's payload, or of the one that it stands for. */
function payloadHash({ bytes }: Batch, { payloadAt, end }: BatchCommit) {
  const payload = bytes.subarray(payloadAt, end);
  return isStub(payload) ? hashInStub(payload) : sha256(payload);
}

/** What stands in the place of a commit's payload once that says nothing. */
export function stubOf(
  batch: Batch,
  commit: BatchCommit,
): Uint8Array<ArrayBuffer> {
  return encodeStub(payloadHash(batch, commit));
}

/** Are two commits of one place in one chain the same one, be one of them a stub of the other? */
export function isSameCommit(
  batch: Batch,
  commit: BatchCommit,
  other: Batch,
  one: BatchCommit,
): boolean {
  if (equalBytes(bytesOf(batch, commit), bytesOf(other, one))) return true;
  const header = batch.bytes.subarray(commit.at, commit.headerEnd);
  return commit.isVoid !== one.isVoid &&
    equalBytes(header, other.bytes.subarray(one.at, one.headerEnd)) &&
    equalBytes(payloadHash(batch, commit), payloadHash(other, one));
}

/** The bytes of a batch, with stubs in the place of what its void commits say: under the same seal. */
export function stubbedBytes(batch: Batch): Uint8Array {
  const { bytes, chain, first, commits, seal } = batch;
  const writer = new ByteWriter(bytes.length);
  writeHead(writer, chain, first, commits.length);
  for (const commit of commits) {
    const { at, headerEnd, end, isVoid } = commit;
    if (!isVoid) {
      writer.bytes(bytes.subarray(at, end));
      continue;
    }
    const stub = stubOf(batch, commit);
    writer.bytes(bytes.subarray(at, headerEnd));
    writer.varint(stub.length);
    writer.bytes(stub);
  }
  if (seal !== undefined) writer.bytes(seal);
  return writer.copy();
}
