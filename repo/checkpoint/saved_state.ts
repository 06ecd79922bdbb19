/**
 * What a checkpoint knows that a damaged log may have lost: who could sign, how
 * long each chain was, and the items that were changed since they were made.
 *
 * Items that are as they were made stand in the log alone: of those whose bytes
 * cannot be read, the names are kept.
 *
 * Never writes.
 */

import { DatabaseError, hasCode } from "../../src/base/errors.ts";
import { type Cell, isBlank } from "../../src/schema/cell.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { Cells } from "../state/cells.ts";
import type { Base } from "./base.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { IN_HEAP } from "./layout.ts";
import { type LoadedSegment, loadSegments } from "../log/reader.ts";
import { decodeMeta, type ReplicaMeta } from "./replica_meta.ts";
import type { ItemName } from "../state/state.ts";

/** Cells by collection and id. */
export type SavedCells = Map<string, Map<string, Cell>>;

export interface SavedState {
  /** Up to which log address. */
  readonly covers: number;
  readonly meta: ReplicaMeta;
  /** Items that were changed or deleted since they were made. */
  readonly cells: SavedCells;
  readonly lost: readonly ItemName[];
}

/** Reads everything of a checkpoint that its log may lack. */
export function saveState(checkpoint: Checkpoint): SavedState | undefined {
  const cells: SavedCells = new Map();
  const lost: ItemName[] = [];
  try {
    const meta = decodeMeta(checkpoint.meta);
    for (const collection of checkpoint.collections) {
      const byId = new Map<string, Cell>();
      readCells(collection, checkpoint.base(collection)!, byId, lost);
      cells.set(collection, byId);
    }
    return { covers: checkpoint.covers, meta, cells, lost };
  } catch (cause) {
    if (cause instanceof SyntaxError || isUnreadable(cause)) return undefined;
    throw cause;
  }
}

function readCells(
  collection: string,
  base: Base,
  byId: Map<string, Cell>,
  lost: ItemName[],
): void {
  const cells = new Cells(base.size);
  for (let ordinal = 0; ordinal < base.size; ordinal++) {
    try {
      const cell = base.cellAt(ordinal, cells);
      const isOld = base.rowAt(ordinal).shape === IN_HEAP && !isBlank(cell);
      if (isOld) byId.set(cell.id, cell);
    } catch (cause) {
      if (!isUnreadable(cause)) throw cause;
      lost.push({ collection, id: base.idAt(ordinal) });
    }
  }
}

/** Is it damage, of the log or of the checkpoint? */
function isUnreadable(cause: unknown): boolean {
  return hasCode(cause, "log-damaged", "checkpoint-damaged");
}

/** The files of a log as they are, whatever is wrong with them. */
export class RawLog {
  readonly #files: readonly LoadedSegment[];

  /** Opens those whose headers can be read. */
  constructor(storage: Storage, folder: string, names: readonly string[]) {
    this.#files = openAll(storage, folder, names);
  }

  /** Reads bytes from an address on, within one segment; says how many there were. */
  readAt(target: Uint8Array, address: number): number {
    for (const { segment } of this.#files) {
      if (segment === undefined || segment.base > address) continue;
      if (segment.limit <= address) continue;
      return segment.file.readAt(target, address - segment.base);
    }
    return 0;
  }

  close(): void {
    for (const { file } of this.#files) file.close();
  }
}

function openAll(
  storage: Storage,
  folder: string,
  names: readonly string[],
): LoadedSegment[] {
  try {
    return loadSegments(storage, folder, { names });
  } catch (cause) {
    if (cause instanceof DatabaseError) return [];
    throw cause;
  }
}
