/**
 * Chains made by hand: ids step by step, and sealed batches without a log.
 *
 * @module
 */

import type { Signer } from "../../crypto/mod.ts";
import {
  type ErasedPayloads,
  type Run,
  sealRun,
  writeBatch,
} from "../../repo/commit/batch.ts";
import { ChainHash } from "../../repo/commit/commit.ts";
import type { ByteWriter } from "../../src/base/bytes.ts";

/** The id of the commit with these bytes that follows `previousId`. */
export function commitId(
  previousId: Uint8Array,
  header: Uint8Array,
  payload: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const hash = new ChainHash().start(previousId);
  hash.next(header, payload);
  return hash.id.slice();
}

/** Appends a signed batch that follows `previousId`; the result is its last id. */
export function writeSealedBatch(
  writer: ByteWriter,
  run: Run,
  previousId: Uint8Array,
  genesisId: Uint8Array,
  signer: Signer,
): Uint8Array<ArrayBuffer> {
  writeBatch(writer, run);
  const { seal, lastId } = sealRun(run, previousId, genesisId, signer);
  writer.bytes(seal);
  return lastId;
}

/** Where nothing is erased. */
export const noneErased: ErasedPayloads = { hashOf: () => undefined };
