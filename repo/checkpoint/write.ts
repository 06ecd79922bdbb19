/**
 * Writes a checkpoint: a picture of all tables, taken at once, turned into
 * pages in small steps while the repository goes on.
 *
 * What the previous checkpoint holds and nobody has read is carried over
 * without decoding it. Never changes a table, never touches the log.
 *
 * Architecture invariant: the older checkpoint stays until the newer one is
 * durable, and a failure leaves it as it was (law 5).
 */

import { ByteWriter, encodeText } from "../../src/base/bytes.ts";
import { crc32 } from "../../src/base/crc32.ts";
import { assert, DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { World } from "../../src/base/world.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import type { Table } from "../state/table.ts";
import type { WriteTouches } from "./touches_writer.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { numberIn } from "./files.ts";
import { type Picture, pictureOf, writeCollection } from "./collection.ts";
import {
  type CollectionPlace,
  columnTypes,
  type Directory,
  FORMAT,
  LOG_PAGE,
  MAGIC,
  type Records,
  type Stream,
  TOUCHES_AT,
} from "./layout.ts";
import type { ReadLog } from "./log_rows.ts";
import { PageWriter } from "./page_writer.ts";
import { Registry } from "./registry.ts";
import type { Shape } from "../../src/schema/patch.ts";
import { encodeShape } from "../../src/schema/shape_codec.ts";

/** A sync of this much takes about a millisecond. */
const SYNC_BYTES = 1024 * 1024;

export interface WriteCheckpointOptions {
  readonly storage: Storage;
  readonly folder: string;
  /** Its file's, with a number that is higher than that of every checkpoint there is. */
  readonly name: string;
  readonly covers: number;
  /** Does it hold every item itself, and not only those that changed since their create? */
  readonly isWhole: boolean;
  readonly meta: Uint8Array;
  readonly tables: readonly Table[];
  /** What is known of items where the tables are not: see `Outline`. */
  readonly outline?: readonly Shape[];
  readonly readLog: ReadLog;
  /** The checkpoint that the tables stand on. */
  readonly previous?: Checkpoint | undefined;
  /** The one whose checksums of the log are carried over. */
  readonly checked?: Checkpoint | undefined;
  readonly touches?: WriteTouches | undefined;
  readonly world: World;
  /** Resolves when the bytes of the log up to `covers` change no more: before, none is read. */
  readonly sealed?: () => Promise<void> | undefined;
  /** Resolves when the log is durable up to `covers`; nothing may be put into place before. */
  readonly settled?: () => Promise<void> | undefined;
  /** Lets others work; `undefined` when nobody waits. */
  readonly pause: () => Promise<void> | undefined;
}

/** Writes a checkpoint; the tables may change as soon as this has returned its promise. */
export async function writeCheckpoint(
  options: WriteCheckpointOptions,
): Promise<void> {
  const { storage, folder, name, world } = options;
  const pictures = options.tables.map((table) =>
    pictureOf(table, options.previous)
  );
  const unfinished = `${folder}/checkpoint-${numberIn(name)}.new`;
  let file: StorageFile | undefined;
  try {
    storage.remove(unfinished);
    file = storage.open(unfinished, { create: true });
    assert(file !== undefined, "a file that may be created opens");
    const salt = new Uint32Array(1);
    world.random(new Uint8Array(salt.buffer));
    await options.sealed?.();
    await inSlices(steps(options, pictures, file, salt[0]!), file, options);
    await file.sync();
    await options.settled?.();
    file.close();
    file = undefined;
    storage.rename(unfinished, `${folder}/${name}`);
    await storage.syncFolder(folder, true);
  } catch (error) {
    discard(storage, unfinished, file);
    throw error;
  }
}

/**
 * Runs steps, pausing whenever a slice of time is used up. Syncs in between:
 * one sync of a whole large file would hold up the log's own.
 */
async function inSlices(
  steps: Generator<void>,
  file: StorageFile,
  { world, pause }: WriteCheckpointOptions,
): Promise<void> {
  let start = world.monotonic();
  let synced = 0;
  while (steps.next().done !== true) {
    if (world.monotonic() - start < limits.sliceMsMax) continue;
    await pause();
    if (file.size() - synced > SYNC_BYTES) {
      synced = file.size();
      await file.sync();
      await pause();
    }
    start = world.monotonic();
  }
}

/** The first failure is what the caller must hear, not one of tidying up. */
function discard(
  storage: Storage,
  name: string,
  file: StorageFile | undefined,
): void {
  try {
    file?.close();
    storage.remove(name);
  } catch {
    // The next checkpoint or opening removes it.
  }
}

function* steps(
  options: WriteCheckpointOptions,
  pictures: readonly Picture[],
  file: StorageFile,
  salt: number,
): Generator<void> {
  const { previous, covers, meta, isWhole } = options;
  const writer = new PageWriter(file, salt);
  const isAnew = previous !== undefined && isWorthRenumbering(previous);
  const registry = new Registry(isAnew ? undefined : previous, isWhole);
  for (const shape of options.outline ?? []) registry.shape(shape);
  const collections: CollectionPlace[] = [];
  for (const picture of pictures) {
    collections.push(yield* writeCollection(writer, picture, registry, salt));
  }
  const origins = yield* registry.writeOrigins(writer);
  const checks = yield* writeChecks(writer, options);
  const kept = previous === undefined || isAnew
    ? origins.count
    : previous.directory.originsKept;
  const touches = options.touches === undefined
    ? { first: 0, bytes: 0 }
    : yield* options.touches(writer);
  const directory = writer.stream(encodeDirectory({
    covers,
    chains: registry.chains,
    shapes: registry.shapes,
    origins,
    originsKept: kept,
    checks,
    collections,
    meta,
  }));
  writer.last(lastPage(salt, writer.page + 1, directory, touches));
}

/** Origins keep their numbers from checkpoint to checkpoint until most are in no use. */
function isWorthRenumbering({ directory }: Checkpoint): boolean {
  return directory.origins.count > 2 * directory.originsKept + 4096;
}

function lastPage(
  salt: number,
  pages: number,
  directory: Stream,
  touches: Stream,
): Uint8Array {
  const bytes = new Uint8Array(TOUCHES_AT + 8);
  const view = new DataView(bytes.buffer);
  bytes.set(encodeText(MAGIC));
  view.setUint16(8, FORMAT, true);
  view.setUint32(12, salt, true);
  view.setUint32(16, pages, true);
  view.setUint32(20, directory.first, true);
  view.setUint32(24, directory.bytes, true);
  view.setUint32(TOUCHES_AT, touches.first, true);
  view.setUint32(TOUCHES_AT + 4, touches.bytes, true);
  return bytes;
}

/** Checksums of the log; those of whole pages that the previous one has are carried over. */
function* writeChecks(
  writer: PageWriter,
  { covers, readLog, checked }: WriteCheckpointOptions,
): Generator<void, Records> {
  const first = writer.begin();
  const carried = Math.floor(
    Math.min(checked?.covers ?? 0, covers) / LOG_PAGE,
  );
  for (let page = 0; page < carried; page++) {
    writer.u32(checked!.checkAt(page));
    if ((page & 1023) === 1023) yield;
  }
  const bytes = new Uint8Array(16 * LOG_PAGE);
  for (let at = carried * LOG_PAGE; at < covers; at += bytes.length) {
    const part = bytes.subarray(0, Math.min(bytes.length, covers - at));
    readFully(readLog, part, at);
    for (let from = 0; from < part.length; from += LOG_PAGE) {
      const page = part.subarray(from, from + LOG_PAGE);
      writer.u32(crc32(page, ((at + from) / LOG_PAGE) >>> 0));
    }
    yield;
  }
  writer.end();
  return { first, count: Math.ceil(covers / LOG_PAGE) };
}

function readFully(readLog: ReadLog, target: Uint8Array, at: number): void {
  for (let done = 0; done < target.length;) {
    const read = readLog(target.subarray(done), at + done);
    if (read === 0) {
      throw new DatabaseError(
        "log-damaged",
        `The log ends at address ${
          at + done
        }, before what is in memory: close and open again`,
      );
    }
    done += read;
  }
}

export function encodeDirectory(directory: Directory): Uint8Array {
  const writer = new ByteWriter(4096);
  writer.u48(directory.covers);
  writer.varint(directory.chains.length);
  for (const chain of directory.chains) writer.text(chain);
  writer.varint(directory.shapes.length);
  for (const shape of directory.shapes) writer.bytes(encodeShape(shape));
  writeRecords(writer, directory.origins);
  writer.varint(directory.originsKept);
  writeRecords(writer, directory.checks);
  writer.varint(directory.collections.length);
  for (const place of directory.collections) writePlace(writer, place);
  writer.varint(directory.meta.length);
  writer.bytes(directory.meta);
  return writer.copy();
}

function writeRecords(writer: ByteWriter, records: Records): void {
  writer.varint(records.first);
  writer.varint(records.count);
}

function writePlace(writer: ByteWriter, place: CollectionPlace): void {
  writer.text(place.name);
  writer.varint(place.size);
  writer.varint(place.count);
  const parts = [
    place.slots,
    place.rows,
    place.ids,
    place.idStarts,
    place.dead,
  ];
  for (const records of parts) writeRecords(writer, records);
  writer.varint(place.heap.first);
  writer.varint(place.heap.bytes);
  writer.varint(place.columns.length);
  for (const column of place.columns) {
    writer.text(column.field);
    writer.text(column.key);
    writer.u8(columnTypes.indexOf(column.type));
    writer.u8(column.encoding);
    writeRecords(writer, column.records);
    writer.varint(column.words.first);
    writer.varint(column.words.bytes);
    writer.varint(column.wordCount);
  }
}
