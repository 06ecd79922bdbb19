/**
 * The `resume` file of a repository: from where its next connection goes on.
 *
 * It is a shortcut, never a truth: damaged, stale or missing it is as if there
 * had been no connection before, and the two sides compare all they have.
 *
 * Architecture invariant: derived data is disposable (law 5); nothing that is
 * wrong with this file is ever an error.
 *
 * @module
 */

import { equalBytes } from "../base/bytes.ts";
import {
  decodeFile,
  encodeFile,
  type FileLayout,
  fixed,
  ownBytes,
  struct,
  u32,
  u48,
  type ValueOf,
} from "../base/layout.ts";
import { crc32 } from "../base/crc32.ts";
import { limits } from "../base/limits.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import { readWhole, replace } from "./local_file.ts";

const FILE = "resume";
/** Around the conversation's bytes, at most. */
const OVERHEAD_BYTES = 80;
/** So many bytes of the log before the known address must be those that were there. */
const TAIL_BYTES = 32;

const layout = struct({
  genesisId: fixed(32),
  logEnd: u48,
  known: u48,
  /** Checksum of what is before `known` in the log. */
  sum: u32,
  conversation: ownBytes,
});

/** The file. */
export const resumeFile: FileLayout<ValueOf<typeof layout>> = {
  magic: "SHEAFRES",
  format: 2,
  layout,
};

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

/** Reads its bytes; `undefined` when they do not hold for a log; may throw. */
export function parseResume(
  file: Uint8Array,
  log: LogFacts,
): Resume | undefined {
  const { genesisId, logEnd, known, sum, conversation } = decodeFile(
    resumeFile,
    file,
  );
  const isOfLog = equalBytes(genesisId, log.genesisId) &&
    logEnd <= log.end && known <= logEnd && sum === log.sumBefore(known);
  return isOfLog ? { bytes: conversation, known } : undefined;
}

/** Its bytes. */
export function encodeResume(
  { bytes, known }: Resume,
  { genesisId, end, sumBefore }: LogFacts,
): Uint8Array {
  return encodeFile(resumeFile, {
    genesisId,
    logEnd: end,
    known,
    sum: sumBefore(known),
    conversation: bytes,
  });
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
