/**
 * Stubs in batches: what others get of commits that were refused, and which
 * commits are the same, be one of them a stub. Loaded with the door.
 *
 * Architecture invariant: a stub has the id of the commit that it stands for, so
 * a batch that holds some is under its seal as before (law 1).
 */

import { sha256 } from "../../crypto/sha256.ts";
import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import {
  encodeStub,
  hashInStub,
  isErased,
  isStub,
} from "../../src/schema/stub.ts";
import {
  type Batch,
  type BatchCommit,
  erasedHash,
  type ErasedPayloads,
  writeHead,
} from "./batch.ts";
import { bytesOf } from "./batch_parts.ts";

/** The hash of a commit's payload, or of the one that it stands for. */
function payloadHash(
  batch: Batch,
  commit: BatchCommit,
  erased: ErasedPayloads,
): Uint8Array {
  const payload = batch.bytes.subarray(commit.payloadAt, commit.end);
  if (isStub(payload)) return hashInStub(payload);
  const index = batch.commits.indexOf(commit);
  return erasedHash(batch, index, erased) ?? sha256(payload);
}

/** What stands in the place of a commit's payload once that says nothing. */
export function stubOf(
  batch: Batch,
  commit: BatchCommit,
  erased: ErasedPayloads,
): Uint8Array<ArrayBuffer> {
  return encodeStub(payloadHash(batch, commit, erased));
}

/** Are two commits of one place in one chain the same one, be one of them a stub of the other, or erased? */
export function isSameCommit(
  batch: Batch,
  commit: BatchCommit,
  other: Batch,
  one: BatchCommit,
  erased: ErasedPayloads,
): boolean {
  if (equalBytes(bytesOf(batch, commit), bytesOf(other, one))) return true;
  const header = batch.bytes.subarray(commit.at, commit.headerEnd);
  // One that is still to be erased here, or once more, may come back without its values.
  const isOther = commit.isVoid !== one.isVoid ||
    isErasedIn(batch, commit) || isErasedIn(other, one);
  return isOther &&
    equalBytes(header, other.bytes.subarray(one.at, one.headerEnd)) &&
    equalBytes(
      payloadHash(batch, commit, erased),
      payloadHash(other, one, erased),
    );
}

function isErasedIn(
  { bytes }: Batch,
  { payloadAt, end }: BatchCommit,
): boolean {
  return isErased(bytes, payloadAt, end);
}

/** The bytes of a batch, with stubs in the place of what its void commits say: under the same seal. */
export function stubbedBytes(
  batch: Batch,
  erased: ErasedPayloads,
): Uint8Array {
  const { bytes, chain, first, commits, seal } = batch;
  const writer = new ByteWriter(bytes.length);
  writeHead(writer, chain, first, commits.length);
  for (const commit of commits) {
    const { at, headerEnd, end, isVoid } = commit;
    if (!isVoid) {
      writer.bytes(bytes.subarray(at, end));
      continue;
    }
    const stub = stubOf(batch, commit, erased);
    writer.bytes(bytes.subarray(at, headerEnd));
    writer.varint(stub.length);
    writer.bytes(stub);
  }
  if (seal !== undefined) writer.bytes(seal);
  return writer.copy();
}
