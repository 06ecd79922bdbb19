/**
 * The `resume` file of a repository: from where its next connection goes on.
 *
 * ```text
 * magic "SHEAFRES" {8} | format u16 = 1 | genesis id {32} | log end u48 | known u48 | crc32 u32 of what is before known
 * | conversation bytes {n} | crc32 u32
 * ```
 *
 * It is a shortcut, never a truth: damaged, stale or missing it is as if there
 * had been no connection before, and the two sides compare all they have.
 *
 * Architecture invariant: derived data is disposable (law 5); nothing that is
 * wrong with this file is ever an error.
 *
 * @module
 */

import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import { limits } from "../base/limits.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import { readWhole, replace } from "./local_file.ts";

const FILE = "resume";
const MAGIC = "SHEAFRES";
const FORMAT = 1;
const OVERHEAD_BYTES = 8 + 2 + 32 + 6 + 6 + 4 + 4;
/** So many bytes of the log before the known address must be those that were there. */
const TAIL_BYTES = 32;

/** What a repository knows of its server. */
export interface Resume {
  /** The conversation's own bytes. */
  readonly bytes: Uint8Array;
  /** Log address up to which the server has everything. */
  readonly known: number;
}

/** What a log must be like, so that what is known of a server holds for it. */
export interface LogFacts {
  readonly genesisId: Uint8Array;
  /** Address up to which it cannot be lost. */
  readonly end: number;
  /** Checksum of the bytes before an address. */
  readonly sumBefore: (address: number) => number;
}

/** Reads it; `undefined` where there is none that holds for this log. */
export function readResume(
  storage: Storage,
  replica: Replica,
): Resume | undefined {
  const { folder, recovery } = replica.loaded;
  // What an unclean end took back in Fast mode, the server may have.
  if (replica.mode === "fast" && !recovery.clean) return undefined;
  if (recovery.quarantine !== undefined) return undefined;
  try {
    const bytesMax = limits.resumeBytesMax + OVERHEAD_BYTES;
    const bytes = readWhole(storage, `${folder}/${FILE}`, bytesMax);
    return bytes && parseResume(bytes, factsOf(replica));
  } catch {
    return undefined;
  }
}

function factsOf({ loaded, mode }: Replica): LogFacts {
  const { log, genesisId } = loaded;
  const sumBefore = (address: number) => {
    const from = Math.max(0, address - TAIL_BYTES);
    const tail = new Uint8Array(address - from);
    return crc32(tail.subarray(0, log.readAt(tail, from)));
  };
  return { genesisId, end: mode === "fast" ? log.end : log.synced, sumBefore };
}

/** Reads its bytes; `undefined` when they do not hold for a log; may throw `SyntaxError`. */
export function parseResume(
  bytes: Uint8Array,
  log: LogFacts,
): Resume | undefined {
  if (bytes.length < OVERHEAD_BYTES) return undefined;
  const end = bytes.length - 4;
  if (new ByteReader(bytes, end).u32() !== crc32(bytes.subarray(0, end))) {
    return undefined;
  }
  const reader = new ByteReader(bytes, 0, end);
  for (const char of MAGIC) if (reader.u8() !== char.charCodeAt(0)) return;
  if (reader.u16() !== FORMAT) return undefined;
  if (!equalBytes(reader.take(32), log.genesisId)) return undefined;
  const [wasEnd, known] = [reader.u48(), reader.u48()];
  if (wasEnd > log.end || known > wasEnd) return undefined;
  if (reader.u32() !== log.sumBefore(known)) return undefined;
  return { bytes: bytes.slice(OVERHEAD_BYTES - 4, end), known };
}

/** Its bytes. */
export function encodeResume(
  { bytes, known }: Resume,
  log: LogFacts,
): Uint8Array {
  const writer = new ByteWriter(bytes.length + OVERHEAD_BYTES);
  for (const char of MAGIC) writer.u8(char.charCodeAt(0));
  writer.u16(FORMAT);
  writer.bytes(log.genesisId);
  writer.u48(log.end);
  writer.u48(known);
  writer.u32(log.sumBefore(known));
  writer.bytes(bytes);
  writer.u32(crc32(writer.view()));
  return writer.copy();
}

/**
 * Writes it beside and renames it. It is not synced: what a power cut takes is
 * a shortcut. A medium that fails here fails where it matters, too.
 */
export function writeResume(
  storage: Storage,
  replica: Replica,
  resume: Resume,
): void {
  const { folder } = replica.loaded;
  if (resume.bytes.length > limits.resumeBytesMax) return;
  try {
    const bytes = encodeResume(resume, factsOf(replica));
    replace(storage, `${folder}/${FILE}`, bytes);
  } catch {
    // Then the next connection compares all that both sides have.
  }
}
