/**
 * Setting damaged log bytes aside: a file with everything from the first bad
 * byte on, and the valid records found in it.
 *
 * Architecture invariant: a repair destroys nothing; its copy is durable before
 * the log is cut.
 */

import { DatabaseError } from "../../src/base/errors.ts";
import type { Storage, StorageFile } from "../../src/storage/storage.ts";
import { quarantineName } from "./format.ts";
import { findRecords } from "./search.ts";
import { copyBytes, endOfBytes, type Segment } from "./segment.ts";

export interface Survivor {
  readonly kind: number;
  /** Where its body stood in the log. */
  readonly address: number;
  readonly length: number;
  body(): Uint8Array;
}

export class Quarantine {
  /** Its name in the log's folder. */
  readonly name: string;
  /** The valid records in it, in order. */
  readonly survivors: Survivor[] = [];
  readonly #storage: Storage;
  readonly #folder: string;
  readonly #address: number;
  readonly #file: StorageFile;
  #length = 0;

  constructor(storage: Storage, folder: string, address: number) {
    this.#storage = storage;
    this.#folder = folder;
    this.#address = address;
    this.name = freeName(storage, folder, address);
    const file = storage.open(`${folder}/${this.name}`, { create: true });
    if (file === undefined) {
      throw new DatabaseError("storage-failed", `Cannot create ${this.name}`);
    }
    this.#file = file;
  }

  /** Copies the rest of the segment in which reading stopped, up to `used`: only zeros follow. */
  addTail(segment: Segment, used: number): void {
    this.#copy(segment.file, this.#address - segment.base, used - segment.base);
    this.#find(segment, this.#address, segment.limit, this.#address);
  }

  addSegment(segment: Segment): void {
    const used = endOfBytes(segment, segment.start, segment.limit);
    const origin = segment.base - this.#length;
    this.#copy(segment.file, 0, used - segment.base);
    this.#find(segment, segment.start, segment.limit, origin);
  }

  /** Copies a file whose header cannot be read. */
  addFile(file: StorageFile, size: number): void {
    this.#copy(file, 0, size);
  }

  async finish(): Promise<void> {
    await this.#file.sync();
    this.#file.close();
    this.#storage.syncFolder(this.#folder);
  }

  #copy(file: StorageFile, from: number, to: number): void {
    this.#length += copyBytes(file, from, to, this.#file, this.#length);
  }

  /** @param origin address that stands at the start of the quarantine file */
  #find(segment: Segment, from: number, to: number, origin: number): void {
    const path = `${this.#folder}/${this.name}`;
    findRecords(segment, from, to, ({ kind, address, length }) => {
      const body = () =>
        readBody(this.#storage, path, address - origin, length);
      this.survivors.push({ kind, address, length, body });
      return false;
    });
  }
}

function readBody(
  storage: Storage,
  path: string,
  offset: number,
  length: number,
): Uint8Array {
  const file = storage.open(path);
  if (file === undefined) {
    throw new DatabaseError(
      "storage-failed",
      `Cannot read ${path}: it is gone`,
    );
  }
  const body = new Uint8Array(length);
  file.readAt(body, offset);
  file.close();
  return body;
}

/** The quarantine's name for `address`, with `.1`, `.2`, … when it is taken. */
export function freeName(
  storage: Storage,
  folder: string,
  address: number,
): string {
  const name = quarantineName(address);
  const taken = new Set(storage.list(folder));
  let free = name;
  for (let i = 1; taken.has(free); i++) free = `${name}.${i}`;
  return free;
}
