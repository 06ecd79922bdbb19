/** What the door asks of commits that are in the log. */

import { equalBytes } from "../../src/base/bytes.ts";
import type { Batch } from "../commit/batch.ts";
import { isSameCommit } from "../commit/stubs.ts";
import type { CommitReader } from "./commit_reader.ts";

/**
 * How many of a batch's commits before index `end` the log has by their numbers,
 * up to the first that differs. Reads no more than their bytes: a commit says
 * where it ends, so equal bytes are an equal commit.
 */
export function countEqual(
  reader: CommitReader,
  batch: Batch,
  end: number,
): number {
  const { chain, first, commits, bytes } = batch;
  for (let i = 0, next: number; i < end; i = next) {
    const entry = reader.find(chain, first + i);
    if (entry === undefined) return i;
    const { address, offset } = entry;
    next = i + 1;
    while (
      next < end && reader.find(chain, first + next)?.address === address
    ) next++;
    const run = bytes.subarray(commits[i]!.at, commits[next - 1]!.end);
    const logged = new Uint8Array(run.length);
    reader.log.readAt(logged, address + offset);
    if (equalBytes(logged, run)) continue;
    // The record's checksum tells whether these are the bytes that were written.
    for (; i < next; i++) {
      const { logged, commit } = reader.read(chain, first + i)!;
      const { erased } = reader;
      if (!isSameCommit(logged.batch, commit, batch, commits[i]!, erased)) {
        return i;
      }
    }
  }
  return end;
}

/** The payload of a commit that is in the log. */
export function payloadAt(
  reader: CommitReader,
  chain: string,
  number: number,
): Uint8Array | undefined {
  const found = reader.read(chain, number);
  if (found === undefined) return undefined;
  const { commit: { payloadAt, end }, logged: { batch } } = found;
  return batch.bytes.subarray(payloadAt, end);
}

/** Does a commit that is in the log say nothing, because it was refused or given up? */
export function isSilent(
  reader: CommitReader,
  chain: string,
  number: number,
): boolean {
  const found = reader.read(chain, number);
  if (found === undefined) return false;
  const { logged: { batch, address } } = found;
  const { commits, first } = reader.withRefused(batch, address);
  return commits[number - first]!.isVoid;
}
