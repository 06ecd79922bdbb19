/**
 * The judge of compare-and-set: does each one of a batch still find what its
 * author compared with? Asked by the server that takes the batch from its author,
 * once, of what the server has by then (law 7: like quota and clock, and unlike
 * rules, it depends on the moment of acceptance).
 *
 * Architecture invariant: of two compare-and-sets of one entry that knew nothing
 * of each other a server takes one, also where both expect the same value: a
 * commit that loses against what is there has not set anything.
 *
 * @module
 */

import { type Refusal, refuseAt } from "../base/errors.ts";
import { compareStamps, type Hlc } from "../base/hlc.ts";
import type { Cell, Origin } from "../schema/cell.ts";
import { fold, stampIn } from "../schema/merge.ts";
import type { Operation, Value } from "../schema/patch.ts";
import type { DecodedPatch } from "../schema/patch_codec.ts";
import type { View } from "../schema/view.ts";
import { absentDigest, digestOfItem, isEntryCollection } from "./entry.ts";

/** What of a batch is judged: a part of `Batch`. */
export interface JudgedBatch {
  readonly chain: string;
  /** Number of its first commit. */
  readonly first: number;
  readonly commits: readonly Hlc[];
}

/** Looks up what is here now. */
export interface Entries {
  /** The moment of acceptance, wall milliseconds: a lease has not run out because somebody's clock is ahead. */
  readonly nowMs: number;
  /** The cell of an item; `undefined` when there is none. */
  cellOf(collection: string, id: string): Cell | undefined;
  /** How cells of a collection are made. */
  viewOf(collection: string): View;
}

/** A digest as `entry.ts` makes them. */
const DIGEST = /^(?:absent|[0-9a-f]{32})$/;

/**
 * The first commit from index `from` on whose compare-and-set finds another
 * value than it expects.
 *
 * @param accepted how many commits of the chain a server is known to have taken
 *   before: what they found then stands
 */
export function judgeEntries(
  batch: JudgedBatch,
  from: number,
  patches: readonly DecodedPatch[],
  entries: Entries,
  accepted = 0,
): Refusal | undefined {
  if (!isConditional(patches)) return undefined;
  const judgement = new Judgement(batch, entries);
  for (let i = from; i < batch.commits.length; i++) {
    const refusal = judgement.commit(i, patches[i - from]!.operations);
    const isNew = batch.first + i >= accepted;
    if (refusal !== undefined && isNew) return refusal;
  }
  return undefined;
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

/** The judgement of one batch, whose commits see each other's writes. */
class Judgement {
  readonly #batch: JudgedBatch;
  readonly #entries: Entries;
  /** Entries as the batch has left them so far, by collection and key. */
  readonly #drafts = new Map<string, Map<string, Cell>>();

  constructor(batch: JudgedBatch, entries: Entries) {
    this.#batch = batch;
    this.#entries = entries;
  }

  commit(
    index: number,
    operations: readonly Operation[],
  ): Refusal | undefined {
    const { wall, count } = this.#batch.commits[index]!;
    const origin = {
      wall,
      count,
      chain: this.#batch.chain,
      operationsAt: -1,
    };
    let refusal: Refusal | undefined;
    for (const operation of operations) {
      if (!isEntryCollection(operation.shape.collection)) continue;
      const conflict = this.#operation(operation, origin);
      if (conflict === undefined) continue;
      const number = this.#batch.first + index;
      refusal ??= refuseAt(number, "kv-conflict", conflict);
    }
    return refusal;
  }

  /** Why it cannot be; `undefined` when it can. */
  #operation(operation: Operation, origin: Origin): string | undefined {
    const { shape: { collection }, id } = operation;
    let drafts = this.#drafts.get(collection);
    if (drafts === undefined) this.#drafts.set(collection, drafts = new Map());
    const own = drafts.get(id);
    const before = own ?? this.#entries.cellOf(collection, id);
    const view = this.#entries.viewOf(collection);
    const after = fold(before, operation, origin, -1, view);
    drafts.set(id, after);
    const expected = expectedOf(operation);
    if (expected === undefined) return undefined;
    // What the batch itself has written had its own time until then.
    const atMs = own === undefined ? this.#entries.nowMs : origin.wall;
    const conflict = conflictOf(expected, before, atMs);
    if (conflict !== undefined || isWrittenBy(after, origin)) return conflict;
    return "Somebody else has written the entry at a later time";
  }
}

function conflictOf(
  expected: Value,
  before: Cell | undefined,
  atMs: number,
): string | undefined {
  if (typeof expected !== "string" || !DIGEST.test(expected)) {
    return "What it expects is no digest of a value";
  }
  const found = digestOfItem(before?.item, atMs);
  if (found === expected) return undefined;
  if (found === absentDigest) return "The entry is not there any more";
  return expected === absentDigest
    ? "Somebody else has set the entry before"
    : "Somebody else has changed the entry before";
}

/** Is the entry what this commit made it? */
function isWrittenBy(cell: Cell, origin: Origin): boolean {
  const stamp = stampIn(cell, "expected");
  return cell.item !== undefined && stamp !== undefined &&
    compareStamps(stamp, origin) === 0;
}
