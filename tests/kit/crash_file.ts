/**
 * The bytes of one file as a process sees them and as a power cut may leave
 * them. See {@linkcode ./faulty_storage.ts}.
 *
 * @module
 */

import type { Kept } from "./faulty_storage.ts";
import { shuffle } from "./random.ts";

const SECTOR_BYTES = 512;

/** A write, or a change of length. */
interface Change {
  readonly offset: number;
  /** `undefined`: the file ends at `offset` now. */
  readonly bytes: Uint8Array | undefined;
}

/** Bytes that grow by being written. */
class Image {
  #bytes = new Uint8Array(0);
  length = 0;

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }

  resize(length: number): void {
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(length, this.#bytes.length * 2));
      grown.set(this.view());
      this.#bytes = grown;
    }
    if (length < this.length) this.#bytes.fill(0, length, this.length);
    this.length = length;
  }

  apply({ offset, bytes }: Change): void {
    if (bytes === undefined) return this.resize(offset);
    const end = offset + bytes.length;
    if (end > this.length) this.resize(end);
    this.#bytes.set(bytes, offset);
  }
}

/** One file. */
export class CrashFile {
  readonly #live = new Image();
  readonly #durable = new Image();
  #changes: Change[] = [];
  #forgotten = 0;

  /** Bytes that a process sees. */
  get length(): number {
    return this.#live.length;
  }

  /** Number of changes so far, for {@linkcode sync}. */
  get pending(): number {
    return this.#forgotten + this.#changes.length;
  }

  /** Reads as a process does. */
  read(target: Uint8Array, offset: number): number {
    const bytes = this.#live.view();
    const found = bytes.subarray(offset, offset + target.length);
    target.set(found);
    return found.length;
  }

  /** Writes: not durable yet. */
  write(bytes: Uint8Array, offset: number): void {
    this.#add({ offset, bytes: bytes.slice() });
  }

  /** Sets the length: not durable yet. */
  truncate(length: number): void {
    this.#add({ offset: length, bytes: undefined });
  }

  /** Makes the first `covered` changes durable. */
  sync(covered: number): void {
    const done = this.#changes.splice(0, covered - this.#forgotten);
    this.#forgotten += done.length;
    for (const change of done) this.#durable.apply(change);
  }

  /** Takes all pending changes for written, which the medium never got: they show until a power cut. */
  lose(): void {
    this.#forgotten += this.#changes.length;
    this.#changes = [];
  }

  /** What a power cut leaves. */
  image(kept: Kept, random: (() => number) | undefined): Uint8Array {
    if (kept === "all") return this.#live.view().slice();
    const image = new Image();
    image.apply({ offset: 0, bytes: this.#durable.view() });
    if (random === undefined) return image.view();
    const share = random();
    const sectors = this.#changes.flatMap(toSectors);
    for (const sector of shuffle(sectors, random)) {
      if (random() < share) image.apply(sector);
    }
    // The length may reach the medium before the bytes do.
    if (random() < 0.3) image.resize(Math.max(image.length, this.length));
    return image.view();
  }

  #add(change: Change): void {
    this.#live.apply(change);
    this.#changes.push(change);
  }
}

function toSectors(change: Change): Change[] {
  const { offset, bytes } = change;
  if (bytes === undefined) return [change];
  const sectors: Change[] = [];
  for (let at = 0; at < bytes.length;) {
    const room = SECTOR_BYTES - (offset + at) % SECTOR_BYTES;
    const part = bytes.subarray(at, at + room);
    sectors.push({ offset: offset + at, bytes: part });
    at += part.length;
  }
  return sectors;
}
