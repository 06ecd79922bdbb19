/**
 * Overwriting parts of records in place, whole or not at all: what is to stand
 * where is noted in a file first, and who finds that file writes it once more.
 *
 * Architecture invariant: a record keeps its address and its length, so nothing
 * that points into the log has to be told.
 */

import { ByteWriter, readable } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { assert } from "../../src/base/errors.ts";
import {
  decodeFile,
  encodeFile,
  type FileLayout,
  list,
  ownBytes,
  struct,
  u48,
} from "../../src/base/layout.ts";
import { readWhole, writeWhole } from "../../src/storage/small_file.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { RECORD_HEADER_BYTES, recordSeed, REWRITING } from "../log/format.ts";
import type { Store } from "../log/store.ts";
import { loadSegments } from "../log/reader.ts";

export interface Edit {
  readonly address: number;
  readonly bytes: Uint8Array;
}

/** Where a record's checksum stands. */
const CRC_AT = 4;

export const rewritingFile: FileLayout<{ readonly edits: readonly Edit[] }> = {
  magic: "SHEAFREW",
  format: 1,
  layout: struct({
    edits: list(struct({ address: u48, bytes: ownBytes }), Infinity),
  }),
};

/** What it takes that the record whose body stands at `address` has another one, of the same length. */
export function editsOf(
  log: Store,
  address: number,
  before: Uint8Array,
  after: Uint8Array,
): Edit[] {
  assert(before.length === after.length, "a record keeps its length");
  let [from, to] = [0, after.length];
  while (from < to && before[from] === after[from]) from++;
  while (to > from && before[to - 1] === after[to - 1]) to--;
  const body = { address: address + from, bytes: after.slice(from, to) };
  const start = address - RECORD_HEADER_BYTES;
  const segment = log.segmentAt?.(start);
  if (segment === undefined) return [body];
  const header = new Uint8Array(RECORD_HEADER_BYTES);
  log.readAt(header, start);
  const kind = header[RECORD_HEADER_BYTES - 1]!;
  const seed = recordSeed(segment.saltCrc, start, after.length, kind);
  const sum = new ByteWriter(4);
  sum.u32(crc32(after, seed));
  return [{ address: start + CRC_AT, bytes: sum.copy() }, body];
}

/** Notes what is about to be written; durable when it resolves. */
export async function noteRewriting(
  storage: Storage,
  folder: string,
  edits: readonly Edit[],
): Promise<void> {
  const bytes = encodeFile(rewritingFile, { edits });
  await writeWhole(storage, `${folder}/${REWRITING}`, bytes);
  storage.syncFolder(folder);
}

/** It is durable in the log. */
export function endRewriting(storage: Storage, folder: string): void {
  storage.remove(`${folder}/${REWRITING}`);
  storage.syncFolder(folder);
}

/** Ends what a crash cut short, before anybody reads the log. */
export async function finishRewriting(
  storage: Storage,
  folder: string,
  names: readonly string[],
): Promise<void> {
  const note = readWhole(storage, `${folder}/${REWRITING}`);
  const read = note && readable(() => decodeFile(rewritingFile, note));
  // Where the note is torn, nothing in the log was written.
  const edits: readonly Edit[] = read?.edits ?? [];
  const segments = edits.length === 0
    ? []
    : loadSegments(storage, folder, { names, from: 0, repair: true });
  try {
    for (const { address, bytes } of edits) {
      const at = segments.findLast(({ segment }) =>
        segment !== undefined && segment.base <= address
      );
      at?.file.writeAt(bytes, address - at.segment!.base);
    }
    for (const { file } of segments) await file.sync();
  } finally {
    for (const { file } of segments) file.close();
  }
  endRewriting(storage, folder);
}
