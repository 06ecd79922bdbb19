/**
 * Refused commits, until somebody retries or discards them.
 *
 * Architecture invariant: a refusal stays until it is dealt with (law 11). A
 * retry and its record are whole together or not at all: the record stands
 * right before the commit and says which one it is.
 */

import type { Stamp } from "../../src/base/hlc.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import { patchOf } from "../commit/batch.ts";
import { displayChain, type Position } from "../commit/commit.ts";
import type { CommitReader } from "../history/commit_reader.ts";
import { lateRefusing } from "./late_refusing.ts";
import type { LoadedReplica } from "../loaded_replica.ts";
import type { Transaction } from "../write/transaction.ts";
import {
  type Refused,
  REISSUED,
  type Resolution,
  resolveIn,
} from "./void_commits.ts";
import type { Done } from "../write/writer.ts";

export interface RefusedEntry extends Position, Omit<Refused, "address"> {
  /** What it said, read from the log when it is asked for. */
  readonly patch: DecodedPatch;
}

export interface RefusalsParts {
  readonly loaded: LoadedReplica;
  readonly transact: (run: (transaction: Transaction) => void) => Done<void>;
  readonly flush: () => void;
}

export class Refusals {
  readonly #parts: RefusalsParts;
  readonly #listeners = new Set<() => void>();
  #refused: readonly Refused[] = [];
  /** Those of them that an app deals with. */
  #shown: readonly Refused[] = [];
  #entries: readonly RefusedEntry[] = [];

  constructor(parts: RefusalsParts) {
    this.#parts = parts;
  }

  /** All of them, in order; the same array until that changes. */
  list(): readonly RefusedEntry[] {
    const { voided: { refused }, commits } = this.#parts.loaded;
    if (refused === this.#refused) return this.#entries;
    const known = new Map(this.#shown.map((one, i) => [one, this.#entries[i]]));
    this.#shown = refused.filter(({ reason }) => reason !== REISSUED);
    this.#refused = refused;
    return this.#entries = this.#shown.map((one) =>
      known.get(one) ?? entryOf(one, commits)
    );
  }

  /** Hears that there are others; the result ends it. */
  onChange(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  /** Writes the same again, now, as a new commit. */
  retry(entry: RefusedEntry): Done<void> {
    const { loaded, flush, transact } = this.#parts;
    const { chain, number } = this.#find(entry);
    const { putAgain } = lateRefusing.code;
    flush(); // The record stands right before the commit that it speaks of.
    let stamp: Stamp | undefined;
    const done = transact((tx) => {
      stamp = tx.origin;
      putAgain(tx, loaded, entry.patch, entry);
    });
    const { commit } = done;
    const retried = commit && stamp && {
      chain: commit.chain,
      number: commit.number,
      wall: stamp.wall,
      count: stamp.count,
    };
    this.#resolve({ chain, number, retried });
    flush();
    return done;
  }

  /** Nothing comes of it; resolves when that is durable. */
  async discard(entry: RefusedEntry): Promise<void> {
    const { chain, number } = this.#find(entry);
    this.#resolve({ chain, number, retried: undefined });
    await this.#parts.loaded.log.sync();
  }

  #find({ chain, number }: RefusedEntry): RefusedEntry {
    const entry = this.list().find((one) =>
      one.chain === chain && one.number === number
    );
    if (entry !== undefined) return entry;
    throw new DatabaseError(
      "commit-missing",
      `The refusal of commit ${number} of ${
        displayChain(chain)
      } was dealt with already`,
    );
  }

  #resolve(resolution: Resolution): void {
    resolveIn(this.#parts.loaded, resolution);
    this.tell();
  }
}

function entryOf(refused: Refused, commits: CommitReader): RefusedEntry {
  const { address, ...shown } = refused;
  let patch: DecodedPatch | undefined;
  const read = () => {
    const batch = commits.batchAt(address);
    const commit = batch.commits[refused.number - batch.first]!;
    return patchOf(batch, commit);
  };
  return {
    ...shown,
    get patch() {
      return patch ??= read();
    },
  };
}
