/**
 * What a repair could not connect any more: commits behind a hole in their
 * chain, and items that only the checkpoint still knew.
 *
 * They show in the state, and nowhere else: the graph does not know them, so
 * that none of them leaves and no commit names them as parents. When what is
 * missing comes back, from the server say, they go through the door like
 * anything from outside, and are folded no second time.
 *
 * In the file `salvage` (docs/format.md). It is ground: nothing else has it.
 *
 * Architecture invariant: what cannot be proved is not shared (laws 2 and 3).
 */

import { ByteReader } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { decodeCell } from "../../src/schema/cell_codec.ts";
import type { IsMeant } from "../../src/schema/erasure.ts";
import type { Shape } from "../../src/schema/patch.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import { readShape } from "../../src/schema/shape_codec.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Arrival } from "../admission/arrival.ts";
import { decodeBatch } from "../commit/batch.ts";
import { flag } from "../../src/base/layout.ts";
import type { Graph } from "../graph/graph.ts";
import { batchKind, SALVAGE } from "../log/format.ts";
import {
  foldBatch,
  type ItemName,
  onlyOf,
  type State,
  type ViewOf,
} from "../state/state.ts";
import type { SavedCells } from "../checkpoint/saved_state.ts";
import { getOrMake } from "../../src/base/collections.ts";
import { lowerBound } from "../../src/base/lower_bound.ts";
import { readChain } from "../commit/commit.ts";

/** First bytes of the file. */
export const SALVAGE_MAGIC = "SHEAFSAV";
/** The format that this code writes and reads. */
export const SALVAGE_FORMAT = 1;
/** Bytes before the head: magic, format, length and checksum. */
export const SALVAGE_START = 18;

/** A batch that does not connect. */
export interface SalvagedBatch {
  readonly isSigned: boolean;
  readonly chain: string;
  readonly first: number;
  /** Number behind its last commit. */
  readonly end: number;
  /** Its bytes. */
  readonly bytes: () => Uint8Array;
}

export interface Salvaged {
  /** Where the log ended. */
  readonly at: number;
  /** How many commits each chain had, as far as anybody can tell. */
  readonly known: ReadonlyMap<string, number>;
  /** Of how many the cells tell. */
  readonly told: ReadonlyMap<string, number>;
  readonly cells: SavedCells;
  readonly lost: readonly ItemName[];
  /** How many items were lost; `lost` names the first of them. */
  readonly lostCount: number;
  readonly batches: readonly SalvagedBatch[];
}

/** What is lost, or uncertain, until it comes back. */
export interface Lost {
  /** Commits that are known to have been here, and are not. */
  readonly commits: number;
  /** Commits that show in items and cannot be shared: others do not have them from here. */
  readonly uncertain: number;
  /** Items that cannot be read any more: the first of them, by name … */
  readonly items: readonly ItemName[];
  /** … and how many. */
  readonly itemCount: number;
}

/** What a batch has that no other one before it has. */
interface Span {
  readonly batch: SalvagedBatch;
  readonly from: number;
  readonly end: number;
}

/** A log may hold a commit in more than one batch. */
function spansOf(batches: readonly SalvagedBatch[]): Map<string, Span[]> {
  const byChain = new Map<string, Span[]>();
  for (const batch of batches.toSorted((a, b) => a.first - b.first)) {
    const { chain, first, end } = batch;
    const spans = getOrMake<string, Span[]>(byChain, chain, () => []);
    const from = Math.max(first, spans.at(-1)?.end ?? 0);
    if (from < end) spans.push({ batch, from, end });
  }
  return byChain;
}

export class Salvage {
  readonly #salvaged: Salvaged;
  /** Batches by chain, ascending, each with what it has beyond those before it. */
  readonly #byChain: ReadonlyMap<string, readonly Span[]>;
  /** How many of a chain's batches are in the graph. */
  readonly #passed = new Map<string, number>();
  /** Commits of the graph when the door last said no to one. */
  readonly #declined = new Map<SalvagedBatch, number>();

  constructor(salvaged: Salvaged) {
    this.#salvaged = salvaged;
    this.#byChain = spansOf(salvaged.batches);
  }

  /** Reads the file of a repository's folder; `log-damaged` when it is not what was written. */
  static read(storage: Storage, folder: string, viewOf: ViewOf): Salvage {
    return new Salvage(readFile(storage, `${folder}/${SALVAGE}`, viewOf));
  }

  /** Where the log ended at the repair: what is behind it came later. */
  get at(): number {
    return this.#salvaged.at;
  }

  /** All of it. */
  get salvaged(): Salvaged {
    return this.#salvaged;
  }

  /** Puts it into the state, or what it says of what is meant. */
  apply(state: State, isMeant?: IsMeant): void {
    for (const [collection, byId] of this.#salvaged.cells) {
      if (isMeant !== undefined) break; // Nothing of it is left there.
      for (const cell of byId.values()) state.put(collection, cell);
    }
    for (const spans of this.#byChain.values()) {
      for (const span of spans) this.#fold(state, span, isMeant);
    }
  }

  #fold(
    state: State,
    { batch, from }: Span,
    isMeant: IsMeant = () => true,
  ): void {
    const { isSigned, first, bytes } = batch;
    const decoded = decodeBatch(bytes(), isSigned);
    const logged = { batch: decoded, address: 0, from: from - first };
    foldBatch(logged, (patch, { wall, count, chain }, number) => {
      const untold = this.#untold(chain, number, patch);
      const operations = untold.operations.filter(isMeant);
      // No log holds it, so that no cell is just a place in one.
      const createOffsets = operations.map(() => -1);
      const origin = { wall, count, chain, operationsAt: -1 };
      state.fold({ operations, createOffsets }, origin);
    });
  }

  /** What of a commit that came back is not in the state yet. */
  unfolded(chain: string, number: number, patch: DecodedPatch): DecodedPatch {
    if (this.#isHeld(chain, number)) {
      return { ...patch, operations: [], createOffsets: [] };
    }
    return this.#untold(chain, number, patch);
  }

  #isHeld(chain: string, number: number): boolean {
    const spans = this.#byChain.get(chain) ?? [];
    const next = lowerBound(spans.length, (i) => spans[i]!.from > number);
    return number < (spans[next - 1]?.end ?? 0);
  }

  /** Without the operations of which cells tell. */
  #untold(chain: string, number: number, patch: DecodedPatch): DecodedPatch {
    const { told, cells } = this.#salvaged;
    if (number >= (told.get(chain) ?? 0) || cells.size === 0) return patch;
    return onlyOf(
      patch,
      ({ shape, id }) => cells.get(shape.collection)?.has(id) !== true,
    );
  }

  /** The next batch that may connect now, for the door; `undefined` when none does. */
  next(graph: Graph): Arrival | undefined {
    for (const [chain, spans] of this.#byChain) {
      const length = graph.lengthOf(chain);
      let passed = this.#passed.get(chain) ?? 0;
      while (passed < spans.length && spans[passed]!.end <= length) passed++;
      this.#passed.set(chain, passed);
      const batch = spans[passed]?.batch;
      if (batch === undefined || batch.first > length) continue;
      if (this.#declined.get(batch) === graph.commits) continue;
      this.#declined.set(batch, graph.commits); // Unless the graph grows by it.
      return { kind: batchKind(batch.isSigned), bytes: batch.bytes() };
    }
    return undefined;
  }

  isDone(graph: Graph): boolean {
    return [...this.#salvaged.known].every(([chain, length]) =>
      graph.lengthOf(chain) >= length
    );
  }

  lost(graph: Graph, state: State): Lost | undefined {
    if (this.isDone(graph)) return undefined;
    let [missing, uncertain] = [0, 0];
    for (const [chain, length] of this.#salvaged.known) {
      missing += Math.max(0, length - graph.lengthOf(chain));
    }
    for (const [chain, spans] of this.#byChain) {
      const length = graph.lengthOf(chain);
      for (const { from, end } of spans) {
        uncertain += Math.max(0, end - Math.max(from, length));
      }
    }
    const { lost, lostCount } = this.#salvaged;
    const items = lost.filter((item) => !isThere(state, item));
    const itemCount = lostCount - lost.length + items.length;
    return { commits: missing - uncertain, uncertain, items, itemCount };
  }
}

/** Is it there again? What cannot be read now is not. */
function isThere(state: State, { collection, id }: ItemName): boolean {
  try {
    return state.find(collection)?.cellOf(id) !== undefined;
  } catch (cause) {
    if (cause instanceof DatabaseError) return false;
    throw cause;
  }
}

function readFile(storage: Storage, name: string, viewOf: ViewOf): Salvaged {
  const read = (from: number, length: number) => {
    const file = storage.open(name);
    const bytes = new Uint8Array(length);
    try {
      if (file?.readAt(bytes, from) === length) return bytes;
    } finally {
      file?.close();
    }
    throw damaged(name, "it ends too early");
  };
  const start = new ByteReader(read(0, SALVAGE_START));
  const magic = String.fromCharCode(...start.take(SALVAGE_MAGIC.length));
  const format = start.u16();
  if (magic !== SALVAGE_MAGIC || format !== SALVAGE_FORMAT) {
    throw damaged(name, `its format ${format} is not known here`);
  }
  const length = start.u32();
  const crc = start.u32();
  const size = sizeOf(storage, name);
  if (length > size - SALVAGE_START) throw damaged(name, "it is cut");
  const head = read(SALVAGE_START, length);
  if (crc32(head) !== crc) throw damaged(name, "the checksum differs");
  try {
    const from = SALVAGE_START + length;
    return readHead(
      new ByteReader(head),
      viewOf,
      (at, length) => read(from + at, length),
    );
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw damaged(name, cause.message, cause);
  }
}

function sizeOf(storage: Storage, name: string): number {
  const file = storage.open(name);
  const size = file?.size() ?? 0;
  file?.close();
  return size;
}

function readHead(
  reader: ByteReader,
  viewOf: ViewOf,
  readBody: (at: number, length: number) => Uint8Array,
): Salvaged {
  const at = reader.u48();
  const known = readVector(reader);
  const told = readVector(reader);
  const origins: Origin[] = listOf(reader, () => {
    const [wall, count] = [reader.u48(), reader.u16()];
    return { wall, count, chain: readChain(reader), operationsAt: -1 };
  });
  const shapes: Shape[] = listOf(reader, () => readShape(reader));
  const tables = {
    origin: (number: number) => origins[number],
    shape: (number: number) => shapes[number],
  };
  const cells: SavedCells = new Map();
  listOf(reader, () => {
    const collection = reader.text();
    const view = viewOf(collection);
    const byId = listOf(
      reader,
      (): [string, Cell] => {
        const cell = decodeCell(reader, tables, view);
        return [cell.id, cell];
      },
    );
    cells.set(collection, new Map(byId));
  });
  const lostCount = reader.varint();
  const lost = listOf(
    reader,
    () => ({ collection: reader.text(), id: reader.text() }),
  );
  const batches = listOf(reader, () => readBatch(reader, readBody));
  return { at, known, told, cells, lost, lostCount, batches };
}

function readBatch(
  reader: ByteReader,
  readBody: (at: number, length: number) => Uint8Array,
): SalvagedBatch {
  const isSigned = flag.read(reader);
  const chain = readChain(reader);
  const first = reader.varint();
  const end = reader.varint();
  const at = reader.varint();
  const length = reader.varint();
  const crc = reader.u32();
  const bytes = () => {
    const body = readBody(at, length);
    if (crc32(body) !== crc) {
      throw damaged(SALVAGE, "a batch is not what it was");
    }
    return body;
  };
  return { isSigned, chain, first, end, bytes };
}

function readVector(reader: ByteReader): Map<string, number> {
  return new Map(
    listOf(reader, () => [readChain(reader), reader.varint()] as const),
  );
}

function listOf<T>(reader: ByteReader, readOne: () => T): T[] {
  const list: T[] = [];
  for (let left = reader.varint(); left > 0; left--) list.push(readOne());
  return list;
}

function damaged(name: string, why: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    "log-damaged",
    `Cannot read ${name}, which holds what a repair salvaged: ${why}. ` +
      "Restore it from a copy, or remove it to go on without",
    { cause },
  );
}
