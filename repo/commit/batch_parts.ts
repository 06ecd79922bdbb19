/** Batches made of others: of their ends, and with other payloads. Loaded with what sends, erases and mends. */

import { ByteWriter } from "../../src/base/bytes.ts";
import {
  type Batch,
  type BatchCommit,
  batchIn,
  HEAD_BYTES_MAX,
  sealLength,
  writeHead,
} from "./batch.ts";

/** A commit's own bytes, header to payload. */
export function bytesOf(batch: Batch, commit: BatchCommit): Uint8Array {
  return batch.bytes.subarray(commit.at, commit.end);
}

/** The batch with other payloads of some commits, by index, which are as long as theirs. */
export function withPayloads(
  batch: Batch,
  payloads: ReadonlyMap<number, Uint8Array>,
): Batch {
  if (payloads.size === 0) return batch;
  const { commits, seal } = batch;
  const bytes = batch.bytes.slice();
  for (const [i, payload] of payloads) {
    bytes.set(payload, commits[i]!.payloadAt);
  }
  return {
    ...batch,
    bytes,
    seal: seal && bytes.subarray(bytes.length - sealLength),
  };
}

/** A batch from a number on, under the same seal: that is of the last commit, whatever stands before it. */
export function batchFrom(
  kind: number,
  body: Uint8Array,
  number: number,
): Uint8Array {
  const { chain, first, commits } = batchIn(kind, body)!;
  const { at } = commits[number - first]!;
  const writer = new ByteWriter(body.length - at + HEAD_BYTES_MAX);
  writeHead(writer, chain, number, first + commits.length - number);
  writer.bytes(body.subarray(at));
  return writer.view();
}
