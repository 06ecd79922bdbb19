/**
 * History: which commits touched what, by whom, when, and what they changed.
 *
 * Read from the log, so its cost grows with the history and not with what is
 * open; nothing is kept for it in memory.
 *
 * @module
 */

import { decodeAscii } from "../base/bytes.ts";
import { DatabaseError } from "../base/errors.ts";
import {
  describeOperation,
  type FieldDescription,
} from "../schema/describe.ts";
import type { Operation } from "../schema/patch.ts";
import { decodePatch } from "../schema/patch_codec.ts";
import { type BatchCommit, payloadOf } from "../../repo/batch.ts";
import { displayChain, type Position } from "../../repo/commit.ts";
import type { LoggedBatch } from "../../repo/commit_reader.ts";
import type { Replica } from "../../repo/replica.ts";
import { commitName, findCommit } from "./commit_name.ts";

/** One operation of a commit, for people. */
export interface OperationSummary {
  readonly collection: string;
  readonly id: string;
  readonly what: Operation["what"];
  /** The fields that it set or changed. */
  readonly fields: readonly FieldDescription[];
}

/** One commit, for people. */
export interface CommitSummary {
  /** Names the commit in `repository.at()` and `diff()`. */
  readonly commit: string;
  /** The writer's chain, shortened. */
  readonly chain: string;
  /** The commit's number in its chain. */
  readonly number: number;
  /** When, by the writer's clock. */
  readonly at: Date;
  /** Who, by the writer's certificate; `undefined` when none is known. */
  readonly user: string | undefined;
  /** Heads of other chains that its writer had seen. */
  readonly parents: readonly string[];
  /** What it did: all of it, or only what concerns the item that was asked for. */
  readonly operations: readonly OperationSummary[];
}

/** Which commits to give. */
export interface HistoryOptions {
  /** At most this many, the newest ones (default: 100). */
  readonly limit?: number;
}

const LIMIT_DEFAULT = 100;

/** The newest commits of a repository, oldest first. */
export function repositoryHistory(
  replica: Replica,
  { limit = LIMIT_DEFAULT }: HistoryOptions = {},
): CommitSummary[] {
  if (!Number.isInteger(limit) || limit < 0) {
    throw new DatabaseError(
      "invalid-option",
      "`limit` must be a whole number from 0 on",
    );
  }
  const skip = replica.graph.commits - limit;
  let seen = 0;
  const summaries: CommitSummary[] = [];
  replica.commits.each((logged) => {
    for (let i = logged.from; i < logged.batch.commits.length; i++) {
      if (seen++ < skip) continue;
      summaries.push(summary(replica, logged, i, () => true));
    }
  });
  return summaries;
}

/** The commits that touched an item, oldest first. */
export function itemHistory(
  replica: Replica,
  collection: string,
  id: string,
): CommitSummary[] {
  const summaries: CommitSummary[] = [];
  const isAscii = /^[\x20-\x7e]*$/.test(id);
  const concerns = ({ shape, id: other }: Operation) =>
    other === id && shape.collection === collection;
  replica.commits.each((logged) => {
    const { batch, from } = logged;
    for (let i = from; i < batch.commits.length; i++) {
      if (isAscii && !mentions(batch.bytes, batch.commits[i]!, id)) continue;
      const found = summary(replica, logged, i, concerns);
      if (found.operations.length > 0) summaries.push(found);
    }
  });
  return summaries;
}

/** A quick look that spares decoding: does the id stand anywhere in the payload? */
function mentions(
  bytes: Uint8Array,
  { payloadAt, end }: BatchCommit,
  id: string,
): boolean {
  return decodeAscii(bytes, payloadAt, end).includes(id);
}

function summary(
  replica: Replica,
  { batch }: LoggedBatch,
  index: number,
  concerns: (operation: Operation) => boolean,
): CommitSummary {
  const commit = batch.commits[index]!;
  const number = batch.first + index;
  const { operations } = decodePatch(payloadOf(batch, commit));
  return {
    commit: commitName({ chain: batch.chain, number }),
    chain: displayChain(batch.chain),
    number,
    at: new Date(commit.wall),
    user: replica.certificates.covering(batch.chain.slice(0, 32), commit.wall)
      ?.user,
    parents: commit.parents.map((parent) => commitName(parent)),
    operations: operations.filter(concerns).map((operation) => ({
      collection: operation.shape.collection,
      id: operation.id,
      ...describeOperation(operation),
    })),
  };
}

/** The position that a commit's name or a moment stands for. */
export function parsePoint(
  replica: Replica,
  point: string | Date,
): Position | Date {
  if (typeof point === "string") return findCommit(replica, point);
  if (!Number.isNaN(point?.getTime?.() ?? NaN)) return point;
  throw new DatabaseError(
    "invalid-option",
    "Give a commit's name or a valid Date",
  );
}
