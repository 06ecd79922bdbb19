/**
 * What ties a repository to a connection: its channel while there is one, and
 * between them the file `resume`: from where the next one goes on. Made of nothing
 * until somebody asks.
 *
 * Architecture invariant: the file is a shortcut, never a truth (law 5): damaged,
 * stale or missing it is as if there had been no connection before, and the two
 * sides compare all they have. Nothing that is wrong with it is ever an error.
 */

import type { World } from "../base/world.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Channel, Known } from "./channel.ts";
import { RepositoryPresence } from "./presence.ts";
import { RepositorySyncing } from "./repository_sync.ts";
import type { UnfitFields } from "./unfit_fields.ts";
import type { Arrivals, Written } from "./write.ts";
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
import { readWhole, replace } from "../storage/small_file.ts";

/** While connected, what is known of the server is written down this long after it changed. */
const SAVE_AFTER_MS = 5_000;

/** The side of a sync client that repositories ride on. */
export interface ChannelSource {
  add(replica: Replica, known?: Known | Uint8Array): Channel;
  remove(name: string): void;
}

export interface RepositoryLinkParts {
  readonly replica: Replica;
  readonly storage: Storage;
  readonly world: World;
  /** Fields that hold values of another kind. */
  readonly unfit?: UnfitFields;
  readonly leaving?: (link: RepositoryLink) => void;
  readonly report?: (error: unknown) => void;
}

/** One repository's tie to connections that come and go. */
export class RepositoryLink implements Arrivals {
  readonly #parts: RepositoryLinkParts;
  #sync: RepositorySyncing | undefined;
  #presence: RepositoryPresence | undefined;
  #source: ChannelSource | undefined;
  /** What is known of the server, once there was a connection. */
  #server: Known | undefined;
  #endListening: (() => void) | undefined;
  #cancelSave: (() => void) | undefined;

  constructor(parts: RepositoryLinkParts) {
    this.#parts = parts;
  }

  get replica(): Replica {
    return this.#parts.replica;
  }

  get sync(): RepositorySyncing {
    const { replica, report, unfit, world } = this.#parts;
    return this.#sync ??= new RepositorySyncing({
      replica,
      ...(unfit !== undefined && { unfit }),
      now: () => world.now(),
      knownBefore: () => this.known,
      kept: () => this.#server?.bytes() ?? this.#readResume()?.bytes,
      ...(report !== undefined && { report }),
    });
  }

  get presence(): RepositoryPresence {
    return this.#presence ??= new RepositoryPresence(this.#parts.report);
  }

  synced(written: Written): Promise<void> {
    return this.sync.synced(written);
  }

  #readResume(): Resume | undefined {
    return readResume(this.#parts.storage, this.#parts.replica);
  }

  /** Opens a channel of its own on a connection. */
  join(source: ChannelSource): void {
    if (this.#source !== undefined) return;
    const { replica } = this.#parts;
    this.#source = source;
    const known = this.#server ?? this.#readResume()?.bytes;
    const channel = source.add(replica, known);
    this.#server = channel.server;
    this.#endListening = channel.subscribe(() => this.#heard());
    this.sync.attach(channel);
    this.presence.attach(channel);
  }

  #heard(): void {
    this.#sync?.changed();
    this.#presence?.heard();
    this.#cancelSave ??= this.#parts.world.after(SAVE_AFTER_MS, () => {
      this.#cancelSave = undefined;
      this.#save();
    });
  }

  #save(): void {
    const server = this.#server;
    if (server === undefined) return;
    const resume = { bytes: server.bytes(), known: server.uploadedTo };
    writeResume(this.#parts.storage, this.#parts.replica, resume);
  }

  /** Closes the channel and keeps what it knew. Waits for nothing. */
  leave(): void {
    const source = this.#source;
    if (source === undefined) return;
    this.#source = undefined;
    this.#cancelSave?.();
    this.#cancelSave = undefined;
    this.#endListening?.();
    this.#sync?.detach();
    source.remove(this.#parts.replica.name);
    this.#save();
    this.#presence?.attach(undefined);
  }

  /** Own log address up to which the server is known to have everything. */
  get known(): number {
    return this.#server?.uploadedTo ?? this.#readResume()?.known ?? 0;
  }

  close(): void {
    this.#parts.leaving?.(this);
    this.leave();
    this.#sync?.close();
  }
}

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

export const resumeFile: FileLayout<ValueOf<typeof layout>> = {
  magic: "SHEAFRES",
  format: 2,
  layout,
};

/** What a repository knows of its server. */
export interface Resume {
  /** The conversation's own bytes. */
  readonly bytes: Uint8Array;
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
function writeResume(
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
