/**
 * After a repair: keeps what does not connect in a file of its own, and shows it.
 *
 * Architecture invariant: a repair destroys nothing. The file is durable before
 * anything is written on top of it.
 */

import { ByteWriter, equalBytes } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { cellDigestBytes } from "../../src/schema/cell_digest.ts";
import { encodeCell } from "../../src/schema/cell_writer.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { encodeShape } from "../../src/schema/shape_codec.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { type Batch, batchIn, decodeBatch } from "../commit/batch.ts";
import { withPayloads } from "../commit/batch_parts.ts";
import { batchLeft, isOf } from "../redaction/erased.ts";
import { foldBatch, type ItemName, type ViewOf } from "../state/state.ts";
import { erase } from "../../src/schema/erasure.ts";
import { chainBytes } from "../commit/commit.ts";
import { recordKind, SALVAGE } from "../log/format.ts";
import type { Survivor } from "../log/quarantine.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import {
  Salvage,
  SALVAGE_FORMAT,
  SALVAGE_MAGIC,
  SALVAGE_START,
  type Salvaged,
  type SalvagedBatch,
} from "./salvage.ts";
import type { SavedCells, SavedState } from "../checkpoint/saved_state.ts";
import { decodeCut, VoidCommits } from "../refusal/void_commits.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** Salvages what of a repaired log did not come in again; nothing where all did. */
export async function salvage(
  storage: Storage,
  loaded: LoadedReplica,
  viewOf: ViewOf,
): Promise<void> {
  const { graph, items: { state }, folder, saved } = loaded;
  const batches = looseBatches(loaded);
  const told = new Map(saved?.meta.graph.vector());
  const cells = saved === undefined
    ? new Map()
    : cellsAfter(saved, loaded.recovery.survivors, told, viewOf);
  const before = loaded.salvage?.salvaged;
  const known = longest(before?.known, told, knownTo(batches));
  const none: Salvaged = {
    at: loaded.log.end,
    known,
    told: longest(before?.told, cells.size === 0 ? undefined : told),
    cells: new Map(),
    lost: [],
    lostCount: 0,
    batches: [],
  };
  if (new Salvage(none).isDone(graph)) return;
  new Salvage({ ...none, batches }).apply(state);
  keepOnlyOther(loaded, cells, before?.cells);
  new Salvage({ ...none, cells }).apply(state);
  const lost =
    saved?.lost.filter(({ collection, id }) =>
      state.find(collection)?.cellOf(id) === undefined
    ) ?? [];
  await writeFile(storage, folder, {
    ...none,
    cells,
    lost: [...before?.lost ?? [], ...lost].slice(0, limits.lostItemsMax),
    lostCount: (before?.lostCount ?? 0) + lost.length,
    batches: [...before?.batches ?? [], ...batches],
  });
  loaded.salvage = Salvage.read(storage, folder, viewOf);
}

/** Takes what is erased of some items out of what was salvaged. */
export async function eraseSalvaged(
  storage: Storage,
  loaded: LoadedReplica,
  items: readonly ItemName[],
  viewOf: ViewOf,
): Promise<void> {
  const { folder, salvage, credentials: { redactions } } = loaded;
  if (salvage === undefined) return;
  const { salvaged } = salvage;
  const cells = new Map(
    Array.from(salvaged.cells, ([name, cells]) => [name, new Map(cells)]),
  );
  for (const { collection, id } of items) cells.get(collection)?.delete(id);
  const isMeant = isOf(items);
  const batches = salvaged.batches.map((one) => {
    const whole = decodeBatch(one.bytes(), one.isSigned);
    const batch = batchLeft(redactions, whole) ?? whole;
    const left = new Map<number, Uint8Array>();
    for (const [i, { payloadAt, end }] of batch.commits.entries()) {
      const payload = erase(batch.bytes.subarray(payloadAt, end), isMeant);
      if (payload !== undefined) left.set(i, payload);
    }
    const { bytes } = withPayloads(batch, left);
    return { ...one, bytes: () => bytes };
  });
  await writeFile(storage, folder, { ...salvaged, cells, batches });
  loaded.salvage = Salvage.read(storage, folder, viewOf);
}

/** The survivors that are not in the graph, without what was cut. */
function looseBatches(loaded: LoadedReplica): SalvagedBatch[] {
  const { graph, recovery: { survivors } } = loaded;
  const voided = cutBefore(loaded);
  const loose: SalvagedBatch[] = [];
  for (const survivor of survivors) {
    const batch = batchIn(survivor.kind, survivor.body());
    if (batch === undefined) continue;
    const { chain, first, commits } = batch;
    const end = first + commits.length;
    if (end <= graph.lengthOf(chain)) continue;
    if (voided.isCut(chain, first, survivor.address)) continue;
    const isSigned = survivor.kind === recordKind.signedBatch;
    const bytes = () => survivor.body();
    loose.push({ isSigned, chain, first, end, bytes });
  }
  return loose;
}

/** What was cut before the damage, as the survivors' addresses know it. */
function cutBefore({ saved, recovery }: LoadedReplica): VoidCommits {
  const all = new VoidCommits();
  for (const { at, cuts } of saved?.meta.voided.cuts ?? []) all.cut(at, cuts);
  for (const { kind, address, body } of recovery.survivors) {
    if (kind !== recordKind.cut || all.hasCut(address)) continue;
    all.cut(address, decodeCut(body()));
  }
  return all;
}

/**
 * The checkpoint's cells after the records behind it, which lengthen `told`.
 * None where a cut or a refusal stands among these: a cell does not tell what was void.
 */
function cellsAfter(
  { covers, cells }: SavedState,
  survivors: readonly Survivor[],
  told: Map<string, number>,
  viewOf: ViewOf,
): SavedCells {
  for (const survivor of survivors) {
    if (survivor.address < covers) continue;
    const isVoiding = survivor.kind === recordKind.cut ||
      survivor.kind === recordKind.refusal;
    if (isVoiding) return new Map();
    const batch = batchIn(survivor.kind, survivor.body());
    if (batch !== undefined) foldBehind(cells, batch, told, viewOf);
  }
  return cells;
}

function foldBehind(
  cells: SavedCells,
  batch: Batch,
  told: Map<string, number>,
  viewOf: ViewOf,
): void {
  const { chain, first, commits } = batch;
  const length = told.get(chain) ?? 0;
  const logged = { batch, address: 0, from: Math.max(0, length - first) };
  foldBatch(logged, ({ operations }, { wall, count }) => {
    const origin: Origin = { wall, count, chain, operationsAt: -1 };
    for (const operation of operations) {
      const { shape: { collection }, id } = operation;
      const byId = cells.get(collection);
      const cell = byId?.get(id);
      if (cell === undefined) continue;
      byId!.set(id, fold(cell, operation, origin, -1, viewOf(collection)));
    }
  });
  told.set(chain, Math.max(length, first + commits.length));
}

/** Drops the cells that the state has as they are; those of an earlier repair stay, as they are now. */
function keepOnlyOther(
  { items: { state } }: LoadedReplica,
  cells: SavedCells,
  before: SavedCells = new Map(),
): void {
  for (const [collection, byId] of cells) {
    const table = state.find(collection);
    for (const [id, cell] of byId) {
      const now = table?.cellOf(id);
      const isSame = now !== undefined &&
        equalBytes(cellDigestBytes(now), cellDigestBytes(cell));
      if (isSame) byId.delete(id);
    }
    if (byId.size === 0) cells.delete(collection);
  }
  for (const [collection, byId] of before) {
    const kept = cells.get(collection) ?? new Map<string, Cell>();
    for (const id of byId.keys()) {
      const now = state.find(collection)?.cellOf(id);
      if (now !== undefined && !kept.has(id)) kept.set(id, now);
    }
    cells.set(collection, kept);
  }
}

function knownTo(batches: readonly SalvagedBatch[]): Map<string, number> {
  const known = new Map<string, number>();
  const note = (chain: string, length: number) =>
    known.set(chain, Math.max(known.get(chain) ?? 0, length));
  for (const { isSigned, chain, end, bytes } of batches) {
    note(chain, end);
    for (const { parents } of decodeBatch(bytes(), isSigned).commits) {
      for (const parent of parents) note(parent.chain, parent.number + 1);
    }
  }
  return known;
}

function longest(
  ...vectors: (ReadonlyMap<string, number> | undefined)[]
): Map<string, number> {
  const all = new Map<string, number>();
  for (const vector of vectors) {
    for (const [chain, length] of vector ?? []) {
      all.set(chain, Math.max(all.get(chain) ?? 0, length));
    }
  }
  return all;
}

/** Writes the file anew, batch by batch, durable when it resolves. */
async function writeFile(
  storage: Storage,
  folder: string,
  salvaged: Salvaged,
): Promise<void> {
  const name = `${folder}/${SALVAGE}`;
  const lengths: number[] = [];
  const sums: number[] = [];
  for (const { bytes } of salvaged.batches) {
    const body = bytes();
    lengths.push(body.length);
    sums.push(crc32(body));
  }
  const head = encodeHead(salvaged, lengths, sums);
  const start = new ByteWriter(SALVAGE_START);
  for (const letter of SALVAGE_MAGIC) start.u8(letter.charCodeAt(0));
  start.u16(SALVAGE_FORMAT);
  start.u32(head.length);
  start.u32(crc32(head));
  storage.remove(`${name}.new`);
  const file = createFile(storage, `${name}.new`);
  try {
    file.writeAt(start.view(), 0);
    file.writeAt(head, SALVAGE_START);
    let at = SALVAGE_START + head.length;
    for (const { bytes } of salvaged.batches) {
      const body = bytes();
      file.writeAt(body, at);
      at += body.length;
    }
    await file.sync();
  } finally {
    file.close();
  }
  storage.rename(`${name}.new`, name);
  storage.syncFolder(folder);
}

function createFile(storage: Storage, name: string): StorageFile {
  const file = storage.open(name, { create: true });
  if (file === undefined) {
    throw new DatabaseError("storage-failed", `Cannot create ${name}`);
  }
  return file;
}

function encodeHead(
  { at, known, told, cells, lost, lostCount, batches }: Salvaged,
  lengths: readonly number[],
  sums: readonly number[],
): Uint8Array {
  const refs = new Refs();
  const body = new ByteWriter(4096);
  body.varint(cells.size);
  for (const [collection, byId] of cells) {
    body.text(collection);
    body.varint(byId.size);
    for (const cell of byId.values()) encodeCell(body, cell, refs);
  }
  body.varint(lostCount);
  body.varint(lost.length);
  for (const { collection, id } of lost) {
    body.text(collection);
    body.text(id);
  }
  body.varint(batches.length);
  let offset = 0;
  batches.forEach(({ isSigned, chain, first, end }, i) => {
    body.u8(isSigned ? 1 : 0);
    body.bytes(chainBytes(chain));
    for (const figure of [first, end, offset, lengths[i]!]) body.varint(figure);
    body.u32(sums[i]!);
    offset += lengths[i]!;
  });
  const head = new ByteWriter(4096 + body.length);
  head.u48(at);
  writeVector(head, known);
  writeVector(head, told);
  refs.write(head);
  head.bytes(body.view());
  return head.copy();
}

function writeVector(
  writer: ByteWriter,
  vector: ReadonlyMap<string, number>,
): void {
  writer.varint(vector.size);
  for (const [chain, length] of vector) {
    writer.bytes(chainBytes(chain));
    writer.varint(length);
  }
}

/** Numbers for the origins and shapes of cells. */
class Refs {
  readonly #origins = new Map<Origin, number>();
  readonly #shapes = new Map<Shape, number>();

  origin(origin: Origin): number {
    return getOrMake(this.#origins, origin, () => this.#origins.size);
  }

  shape(shape: Shape): number {
    return getOrMake(this.#shapes, shape, () => this.#shapes.size);
  }

  write(writer: ByteWriter): void {
    writer.varint(this.#origins.size);
    for (const { wall, count, chain } of this.#origins.keys()) {
      writer.u48(wall);
      writer.u16(count);
      writer.bytes(chainBytes(chain));
    }
    writer.varint(this.#shapes.size);
    for (const shape of this.#shapes.keys()) writer.bytes(encodeShape(shape));
  }
}
