/**
 * A storage that is only read: what is written over it stays in memory, so that
 * what opening mends or makes is there for the reader, and nowhere else.
 *
 * It takes no lock: whoever has the files open may go on writing them, and what is
 * read is what was there when each file was read.
 *
 * Architecture invariant: nothing beneath is ever changed.
 */

import { memoryStorage } from "./memory_storage.ts";
import type {
  OpenFileOptions,
  Storage,
  StorageFile,
  StorageUsage,
} from "./storage.ts";

/** Written bytes are kept in pieces of this size. */
const PIECE_BYTES = 4_096;

/** `inner`, read and never written. */
export function readOnlyStorage(inner: Storage): Storage {
  return new ReadOnlyStorage(inner);
}

class ReadOnlyStorage implements Storage {
  readonly #inner: Storage;
  readonly #own = memoryStorage();
  /** Files beneath that were changed here, by the name that they have now; `undefined`: gone. */
  readonly #changed = new Map<string, Changed | undefined>();

  constructor(inner: Storage) {
    this.#inner = inner;
  }

  open(
    name: string,
    options: OpenFileOptions = {},
  ): StorageFile | undefined {
    const own = this.#own.open(name);
    if (own !== undefined) return own;
    if (!this.#changed.has(name)) {
      const file = this.#inner.open(name);
      if (file !== undefined) {
        file.close();
        this.#changed.set(name, new Changed(this.#inner, name));
      }
    }
    const changed = this.#changed.get(name);
    if (changed !== undefined) return new ChangedFile(changed);
    return options.create === true ? this.#own.open(name, options) : undefined;
  }

  list(folder: string): string[] {
    const names = new Set([
      ...this.#inner.list(folder),
      ...this.#own.list(folder),
    ]);
    const prefix = folder === "" ? "" : `${folder}/`;
    for (const [path, changed] of this.#changed) {
      const name = path.slice(prefix.length);
      if (!path.startsWith(prefix) || name.includes("/")) continue;
      if (changed !== undefined) names.add(name);
      else if (this.#own.open(path) === undefined) names.delete(name);
    }
    return [...names];
  }

  folders(folder: string): string[] {
    return [
      ...new Set([
        ...this.#inner.folders(folder),
        ...this.#own.folders(folder),
      ]),
    ];
  }

  makeFolder(): void {}

  syncFolder(): void {}

  rename(from: string, to: string): void {
    const own = this.#own.open(from);
    if (own !== undefined) {
      this.#own.rename(from, to);
      this.#changed.set(to, undefined);
      return;
    }
    this.open(from);
    this.#own.remove(to);
    this.#changed.set(to, this.#changed.get(from));
    this.#changed.set(from, undefined);
  }

  remove(name: string): void {
    this.#own.remove(name);
    this.#changed.set(name, undefined);
  }

  lock(): () => void {
    return () => {};
  }

  identity(): string {
    try {
      return this.#inner.identity();
    } catch {
      return "read-only"; // Nobody ever locked it: a copy.
    }
  }

  usage(): StorageUsage {
    return { ...this.#inner.usage(), persisted: false };
  }
}

class Changed {
  readonly #inner: Storage;
  readonly #name: string;
  readonly pieces = new Map<number, Uint8Array>();
  /** Its length, once that was changed here. */
  length: number | undefined;
  /** What is behind this is not of the file beneath. */
  cut = Infinity;

  constructor(inner: Storage, name: string) {
    this.#inner = inner;
    this.#name = name;
  }

  openInner(): StorageFile | undefined {
    return this.#inner.open(this.#name);
  }
}

class ChangedFile implements StorageFile {
  readonly #changed: Changed;
  readonly #file: StorageFile | undefined;

  constructor(changed: Changed) {
    this.#changed = changed;
    this.#file = changed.openInner();
  }

  size(): number {
    return this.#changed.length ?? this.#file?.size() ?? 0;
  }

  readAt(target: Uint8Array, offset: number): number {
    const count = Math.max(0, Math.min(target.length, this.size() - offset));
    const { pieces, cut } = this.#changed;
    const room = Math.max(0, Math.min(count, cut - offset));
    const read = this.#file?.readAt(target.subarray(0, room), offset) ?? 0;
    target.fill(0, read, count);
    if (pieces.size === 0) return count;
    for (let at = offset; at < offset + count;) {
      const start = at - at % PIECE_BYTES;
      const end = Math.min(start + PIECE_BYTES, offset + count);
      const piece = pieces.get(start);
      if (piece !== undefined) {
        target.set(piece.subarray(at - start, end - start), at - offset);
      }
      at = end;
    }
    return count;
  }

  writeAt(bytes: Uint8Array, offset: number): void {
    const { pieces } = this.#changed;
    const end = offset + bytes.length;
    const size = this.size();
    for (let start = offset - offset % PIECE_BYTES; start < end;) {
      let piece = pieces.get(start);
      if (piece === undefined) {
        piece = new Uint8Array(PIECE_BYTES);
        this.readAt(piece, start);
        pieces.set(start, piece);
      }
      const from = Math.max(start, offset);
      const to = Math.min(start + PIECE_BYTES, end);
      piece.set(bytes.subarray(from - offset, to - offset), from - start);
      start += PIECE_BYTES;
    }
    if (end > size) this.#changed.length = end;
  }

  truncate(length: number): void {
    const changed = this.#changed;
    for (const [start, piece] of changed.pieces) {
      if (start >= length) changed.pieces.delete(start);
      else piece.fill(0, Math.min(PIECE_BYTES, length - start));
    }
    changed.cut = Math.min(changed.cut, length);
    changed.length = length;
  }

  sync(): undefined {
    return undefined;
  }

  close(): void {
    this.#file?.close();
  }
}
