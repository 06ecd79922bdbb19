/**
 * Reading single operations back from the log, without the rest of their batch.
 *
 * A batch may be a bulk load of megabytes; one operation of it takes two small
 * reads. Only for bytes that were admitted, and so were decoded strictly once.
 *
 * @module
 */

import { ByteReader } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type { Origin } from "../src/schema/cell.ts";
import { nowhere } from "../src/schema/merge.ts";
import type { Operation, Shape } from "../src/schema/patch.ts";
import { readOperation, readPatchHead } from "../src/schema/patch_codec.ts";
import { readParents } from "./commit.ts";
import type { CommitReader } from "./commit_reader.ts";
import type { Log } from "./log.ts";

/** Bytes that most heads and operations fit into. */
const ROOM_FIRST = 1024;
/** Commits whose shapes are kept. */
const HEADS_KEPT = 256;

/** An operation with the commit that it came in. */
export interface FoundOperation {
  readonly operation: Operation;
  readonly origin: Origin;
}

/** A commit's head, as far as its operations need it. */
interface CommitHead {
  readonly shapes: readonly Shape[];
  readonly origin: Origin;
}

/** Reads operations of one repository. */
export class OperationReader {
  readonly #commits: CommitReader;
  readonly #log: Log;
  readonly #heads = new Map<number, CommitHead>();

  constructor(commits: CommitReader, log: Log) {
    this.#commits = commits;
    this.#log = log;
  }

  /** The operation at a log address, in a commit of a chain. */
  read(chain: string, number: number, address: number): FoundOperation {
    const { shapes, origin } = this.#headOf(chain, number);
    const operation = this.#decode(
      address,
      (reader) => readOperation(reader, shapes),
    );
    return { operation, origin };
  }

  /** Forgets what it keeps: commits were withdrawn. */
  forget(): void {
    this.#heads.clear();
  }

  #headOf(chain: string, number: number): CommitHead {
    const entry = this.#commits.find(chain, number);
    if (entry === undefined) {
      throw new RangeError(
        "Cannot read operation: its commit is not in the log",
      );
    }
    const { wall, count } = entry;
    const at = entry.address + entry.offset;
    const known = this.#heads.get(at);
    if (known !== undefined) return known;
    const shapes = this.#decode(at, (reader) => {
      reader.skip(8);
      readParents(reader, chain);
      reader.varint();
      return readPatchHead(reader);
    });
    const origin = { ...nowhere, wall, count, chain };
    if (this.#heads.size >= HEADS_KEPT) this.#heads.clear();
    const head = { shapes, origin };
    this.#heads.set(at, head);
    return head;
  }

  /** Decodes what stands at an address; reads more where it was cut. */
  #decode<T>(address: number, decode: (reader: ByteReader) => T): T {
    for (let room = ROOM_FIRST;; room *= 8) {
      const bytes = new Uint8Array(room);
      const size = this.#log.readAt(bytes, address);
      try {
        return decode(new ByteReader(bytes, 0, size));
      } catch (error) {
        const isCut = error instanceof SyntaxError && size === room &&
          room < limits.batchBytesMax;
        if (!isCut) throw error;
      }
    }
  }
}
