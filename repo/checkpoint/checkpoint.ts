/**
 * An open checkpoint: the state of a repository up to a log address, read on
 * demand from a file that may be deleted at any time.
 *
 * Opening reads the end of the file; every other page is read and checked when
 * a question touches it.
 *
 * Architecture invariant: derived data is disposable (law 5). A checkpoint that
 * is damaged, newer or gone costs time and nothing else.
 */

import { ByteReader, decodeAscii } from "../../src/base/bytes.ts";
import { DatabaseError, hasCode } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Shape } from "../../src/schema/patch.ts";
import type { View } from "../../src/schema/view.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { Base } from "./base.ts";
import { finish } from "../../src/base/steps.ts";
import { numberIn, wholeCheckpoints } from "./files.ts";
import {
  DATA,
  decodeDirectory,
  type Directory,
  FORMAT,
  MAGIC,
  NO_ADDRESS,
  widths,
} from "./layout.ts";
import { LogRows, type ReadLog } from "./log_rows.ts";
import { PageFile, PagePart, PageStream } from "./page_file.ts";
import type { StoredOrigin, Tables } from "./tables.ts";

/** Gives the local view of a collection: its schema's, or that of no schema. */
export type ViewOf = (collection: string) => View;

export class Checkpoint implements Tables {
  /** Its number: the newest one has the highest. */
  readonly number: number;
  /** The file's name. */
  readonly name: string;
  /** Up to which log address it holds. */
  readonly covers: number;
  readonly meta: Uint8Array;
  readonly collections: readonly string[];
  readonly bytes: number;
  readonly file: PageFile;
  readonly directory: Directory;
  readonly log: LogRows;
  /** Checksums of that log. */
  readonly checks: PagePart;
  readonly #viewOf: ViewOf;
  readonly #origins: PagePart;
  readonly #known: (StoredOrigin | undefined)[] = [];
  readonly #bases = new Map<string, Base>();

  /** Reads the end of the file; `SyntaxError` when it is no sound checkpoint. */
  constructor(
    file: StorageFile,
    name: string,
    readLog: ReadLog,
    viewOf: ViewOf,
  ) {
    this.file = new PageFile(file, name);
    this.number = numberIn(name);
    this.name = name;
    this.bytes = file.size();
    this.directory = readDirectory(this.file);
    const { covers, meta, collections, origins, checks } = this.directory;
    this.covers = covers;
    this.meta = meta;
    this.collections = collections.map((place) => place.name);
    this.checks = new PagePart(
      this.file,
      checks.first,
      checks.count,
      widths.check,
    );
    this.log = new LogRows(readLog, this.checks, covers);
    this.#origins = new PagePart(
      this.file,
      origins.first,
      origins.count,
      widths.origin,
    );
    this.#viewOf = viewOf;
  }

  base(collection: string): Base | undefined {
    const known = this.#bases.get(collection);
    if (known !== undefined) return known;
    const place = this.directory.collections.find((place) =>
      place.name === collection
    );
    if (place === undefined) return undefined;
    const base = new Base(this, place, this.#viewOf(collection));
    this.#bases.set(collection, base);
    return base;
  }

  /** The origin with this number: always the same object. */
  origin(index: number): StoredOrigin {
    return this.#known[index] ?? this.#readOrigin(index);
  }

  #readOrigin(index: number): StoredOrigin {
    const part = this.#origins;
    if (!(index < this.directory.origins.count)) {
      throw this.file.damage(0, `there is no origin ${index}`);
    }
    const view = part.page(index / part.perPage | 0);
    const at = index % part.perPage * widths.origin;
    const chain = this.directory.chains[view.getUint32(at + 8, true)];
    if (chain === undefined) {
      throw this.file.damage(0, `origin ${index} has no chain`);
    }
    const operationsAt = u48(view, at + 12);
    const known = this.#known;
    while (known.length <= index) known.push(undefined);
    return known[index] = {
      wall: u48(view, at),
      count: view.getUint16(at + 6, true),
      chain,
      operationsAt: operationsAt === NO_ADDRESS ? -1 : operationsAt,
      index,
      owner: this,
    };
  }

  shape(index: number): Shape {
    const shape = this.directory.shapes[index];
    if (shape === undefined) {
      throw this.file.damage(0, `there is no shape ${index}`);
    }
    return shape;
  }

  close(): void {
    this.file.close();
  }

  checkAt(page: number): number {
    return this.log.checkAt(page);
  }
}

function u48(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint16(at + 4, true) * 2 ** 32;
}

function readDirectory(file: PageFile): Directory {
  const last = file.last();
  if (decodeAscii(last, 0, MAGIC.length) !== MAGIC) {
    throw new SyntaxError("it is no checkpoint");
  }
  const reader = new ByteReader(last, MAGIC.length);
  const format = reader.u16();
  if (format !== FORMAT) {
    throw new SyntaxError(`its format ${format} is not known here`);
  }
  reader.skip(2);
  file.salt = reader.u32();
  const pages = reader.u32();
  const first = reader.u32();
  const bytes = reader.u32();
  if (pages !== file.pages || first >= pages) {
    throw new SyntaxError("its length is not what it says");
  }
  const room = (pages - 1 - first) * DATA;
  if (bytes > room) throw new SyntaxError("its directory is cut");
  const stream = new PageStream(file, first, bytes);
  return decodeDirectory(new ByteReader(stream.bytes(0, bytes)), first);
}

export interface SkippedCheckpoint {
  readonly name: string;
  readonly reason: string;
}

export interface OpenedCheckpoint {
  /** The newest sound one. */
  readonly checkpoint: Checkpoint | undefined;
  /** Newer ones that are not sound. */
  readonly skipped: readonly SkippedCheckpoint[];
}

/** Opens the newest sound one of some checkpoints of a folder. */
export function openCheckpoint(
  storage: Storage,
  folder: string,
  readLog: ReadLog,
  viewOf: ViewOf,
  names: readonly string[] = wholeCheckpoints(storage.list(folder)),
): OpenedCheckpoint {
  const skipped: SkippedCheckpoint[] = [];
  for (const name of names) {
    const file = storage.open(`${folder}/${name}`);
    if (file === undefined) continue;
    try {
      const checkpoint = new Checkpoint(file, name, readLog, viewOf);
      // A large one is checked page by page, by who reads it.
      const isSmall = checkpoint.bytes <= limits.checkpointCheckedBytesMax;
      if (isSmall) finish(checkpoint.file.verify());
      return { checkpoint, skipped };
    } catch (error) {
      file.close();
      skipped.push({ name, reason: reasonOf(error) });
    }
  }
  return { checkpoint: undefined, skipped };
}

/** Why a file could not be used; what is no fault of the file is thrown on. */
function reasonOf(error: unknown): string {
  const isIts = error instanceof SyntaxError ||
    hasCode(error, "checkpoint-damaged");
  if (isIts) return error.message;
  throw error;
}

/** Checks every page of the file and of the log that it covers; ends a step now and then. Says what is wrong, if anything is. */
export function* verifyCheckpoint(
  checkpoint: Checkpoint,
): Generator<void, string | undefined> {
  try {
    yield* checkpoint.file.verify();
    yield* checkpoint.log.verify();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    return error.message;
  }
  return undefined;
}
