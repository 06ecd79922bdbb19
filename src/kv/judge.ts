/**
 * The judge of compare-and-set: does each one of a batch still find what its
 * author compared with? Asked by the server that takes the batch from its author,
 * once, of what the server has by then (law 7: like quota and clock, and unlike
 * rules, it depends on the moment of acceptance).
 *
 * Architecture invariant: of two compare-and-sets of one entry that knew nothing
 * of each other a server takes one, also where both expect the same value: a
 * commit that loses against what is there has not set anything.
 */

import { type Refusal, refuseAt } from "../base/errors.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { Cell, Origin } from "../schema/cell.ts";
import type {
  CommitJudge,
  JudgedCommit,
  JudgedWrite,
} from "../schema/judge.ts";
import { stampIn } from "../schema/merge.ts";
import type { Item, Operation, Value } from "../schema/patch.ts";
import type { DecodedPatch } from "../schema/patch_codec.ts";
import {
  absentDigest,
  digestOfEntry,
  digestOfItem,
  isEntryCollection,
} from "./entry.ts";

const DIGEST = /^(?:absent|[0-9a-f]{32})$/;

export class EntryJudge implements CommitJudge {
  readonly #nowMs: number;

  /** @param nowMs wall milliseconds: a lease has not run out because somebody's clock is ahead */
  constructor(nowMs: number) {
    this.#nowMs = nowMs;
  }

  asksOf(collection: string): boolean {
    return isEntryCollection(collection);
  }

  judge({ number, origin, writes }: JudgedCommit): Refusal | undefined {
    for (const write of writes) {
      const conflict = this.#conflictOf(write, origin);
      if (conflict !== undefined) {
        return refuseAt(number, "kv-conflict", conflict);
      }
    }
    return undefined;
  }

  #conflictOf(
    { operation, before, after, isOwn }: JudgedWrite,
    origin: Origin,
  ): string | undefined {
    const { shape: { collection } } = operation;
    const expected = isEntryCollection(collection)
      ? expectedOf(operation)
      : undefined;
    if (expected === undefined) return undefined;
    // What the batch itself has let expire had its own time until then.
    const isOwnLease = isOwn &&
      stampIn(before!, "expiresAt")?.chain === origin.chain;
    const atMs = isOwnLease ? origin.wall : this.#nowMs;
    const conflict = conflictOf(expected, before, atMs);
    if (conflict !== undefined || isWrittenBy(after(), origin)) return conflict;
    return "Somebody else has written the entry at a later time";
  }
}

/** Is there a compare-and-set in them? Nearly all batches have none. */
export function isConditional(patches: readonly DecodedPatch[]): boolean {
  return patches.some(({ operations }) => operations.some(isCompareAndSet));
}

function isCompareAndSet(operation: Operation): boolean {
  return isEntryCollection(operation.shape.collection) &&
    expectedOf(operation) !== undefined;
}

/** What an operation says that it expects; `undefined` when it is no compare-and-set. */
function expectedOf(operation: Operation): Value {
  if (operation.what === "create") return operation.item["expected"];
  if (operation.what === "delete") return undefined;
  let expected: Value;
  for (const { field, change } of operation.changes) {
    if (field.name === "expected" && change.what === "set") {
      expected = change.value;
    }
  }
  return expected;
}

function conflictOf(
  expected: Value,
  before: Cell | undefined,
  atMs: number,
): string | undefined {
  if (typeof expected !== "string" || !DIGEST.test(expected)) {
    return "What it expects is no digest of a value";
  }
  const found = digestOfItem(
    before?.item,
    atMs,
    (item) => digestIn(before!, item),
  );
  if (found === expected) return undefined;
  if (found === absentDigest) return "The entry is not there any more";
  return expected === absentDigest
    ? "Somebody else has set the entry before"
    : "Somebody else has changed the entry before";
}

/** Digests of large values, by the commit that wrote them. */
const digests = /* @__PURE__ */ new WeakMap<Stamp, Map<Value, string>>();
/** A shorter text is not worth an entry. */
const LARGE_CHARACTERS = 1_024;

/**
 * The digest of an entry that is there, made once of a large value: many small
 * compare-and-sets may leave it as it is.
 */
function digestIn(cell: Cell, item: Item): string {
  const field = item["data"] === undefined ? "value" : "data";
  const value = item[field];
  const isLarge = typeof value === "string"
    ? field === "value" && value.length > LARGE_CHARACTERS
    : typeof value === "object";
  const stamp = isLarge ? stampIn(cell, field) : undefined;
  if (stamp === undefined) return digestOfEntry(item);
  let known = digests.get(stamp);
  if (known === undefined) digests.set(stamp, known = new Map());
  let digest = known.get(value);
  if (digest === undefined) known.set(value, digest = digestOfEntry(item));
  return digest;
}

function isWrittenBy(cell: Cell, origin: Origin): boolean {
  const stamp = stampIn(cell, "expected");
  return cell.item !== undefined && stamp !== undefined &&
    compareStamps(stamp, origin) === 0;
}
