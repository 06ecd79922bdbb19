/**
 * The names of a pool's files: in memory, and in the table that this storage
 * appends to.
 *
 * Order of effects: the record, then the change in memory; so a table that
 * cannot take the record leaves everything as it was.
 */

import { storageFailure } from "./failure.ts";
import { folderOf } from "./names.ts";
import { PoolFile } from "./opfs_file.ts";
import {
  encodeTableHeader,
  TABLE_START,
  type TableChange,
  TableEncoder,
} from "./opfs_table.ts";
import { type AccessHandle, writeAll } from "./opfs_types.ts";

/** Zeros behind a new table's records: room that is there when the medium is full. */
const ROOM_BYTES = 64 * 1024;
/** A table is replaced before its room is used up. */
const SLACK_BYTES = ROOM_BYTES / 2;

export class Table {
  /** Has it records that were not flushed? */
  isDirty = false;
  readonly file: PoolFile;
  readonly #handle: AccessHandle;
  readonly #encoder: TableEncoder;
  #end: number;
  readonly #startBytes: number;

  /** Writes a new table with these names, and flushes it. */
  constructor(
    file: PoolFile,
    identity: Uint8Array,
    term: number,
    names: Iterable<readonly [name: string, id: string]>,
  ) {
    this.file = file;
    this.#handle = file.handle!;
    const header = encodeTableHeader(identity, term);
    this.#encoder = new TableEncoder(header);
    this.#write(header, 0);
    this.#end = TABLE_START;
    for (const [name, id] of names) this.append(["put", name, id]);
    this.#startBytes = this.#end;
    this.#write(new Uint8Array(ROOM_BYTES), this.#end);
    this.flush();
  }

  append(change: TableChange): void {
    const record = this.#encoder.encode(change, this.#end);
    this.isDirty = true;
    this.#write(record, this.#end);
    this.#end += record.length;
  }

  /** Makes everything that was appended durable. */
  flush(): void {
    this.#handle.flush();
    this.isDirty = false;
  }

  get isStale(): boolean {
    return this.#end > 2 * this.#startBytes + SLACK_BYTES;
  }

  #write(bytes: Uint8Array, at: number): void {
    try {
      writeAll(this.#handle, bytes, { at });
    } catch (cause) {
      throw storageFailure("write the pool's table", cause);
    }
  }
}

export class Names {
  readonly #folders = new Map<string, Map<string, PoolFile>>();

  /** @param names with the ids of their files */
  constructor(names: Iterable<readonly [name: string, id: string]>) {
    for (const [name, id] of names) this.set(name, new PoolFile(id, name));
  }

  get(name: string): PoolFile | undefined {
    return this.#folders.get(folderOf(name))?.get(name);
  }

  set(name: string, file: PoolFile): void {
    file.name = name;
    const folder = folderOf(name);
    let files = this.#folders.get(folder);
    if (files === undefined) this.#folders.set(folder, files = new Map());
    files.set(name, file);
  }

  delete(name: string): void {
    const folder = folderOf(name);
    const files = this.#folders.get(folder);
    files?.delete(name);
    if (files?.size === 0) this.#folders.delete(folder);
  }

  in(folder: string): PoolFile[] {
    return [...this.#folders.get(folder)?.values() ?? []];
  }

  *files(): Iterable<PoolFile> {
    for (const files of this.#folders.values()) yield* files.values();
  }

  *[Symbol.iterator](): Iterator<readonly [name: string, id: string]> {
    for (const files of this.#folders.values()) {
      for (const [name, { id }] of files) yield [name, id];
    }
  }

  /** One file's name of each folder. */
  *folders(): Iterable<string> {
    for (const files of this.#folders.values()) {
      yield files.keys().next().value!;
    }
  }
}
