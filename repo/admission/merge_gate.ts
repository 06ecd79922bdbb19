/**
 * What a gate asks of commits before they are folded, of everybody: that they
 * begin no more collections and fields than a repository holds, write a field as
 * what it is, skip no generation, and count no counter out of what numbers hold
 * exactly.
 *
 * A field that some call a list and others a string would be lost to one of them.
 * What it is follows from the schema of the rules, where they have one, and from
 * who wrote it first, in the order of acceptance, where they have none. What is
 * meant for a generation that has ended says nothing of it.
 *
 * And no more is decoded of a batch than there is room for: a patch takes a
 * multiple of its bytes. A batch that honest writers gather is small; a commit
 * that is larger was counted by its writer as well (`PatchWriter`).
 */

import { type Refusal, refuse, refuseAt } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import { type Cell, dueGeneration } from "../../src/schema/cell.ts";
import { countedBy, mayCount } from "../../src/schema/count.ts";
import { mergeClassOf } from "../../src/schema/kinds.ts";
import { stateIn } from "../../src/schema/merge.ts";
import type { FieldKind, Operation } from "../../src/schema/patch.ts";
import {
  countOperations,
  type DecodedPatch,
  decodePatch,
} from "../../src/schema/patch_codec.ts";
import type { Schema } from "../../src/schema/schema.ts";
import { writtenBy } from "./field_kinds.ts";
import { Outline } from "../state/outline.ts";
import type { State } from "../state/state.ts";
import { patchesOf } from "./admit.ts";
import { type Batch, payloadOf } from "../commit/batch.ts";

/** What is said of collections before anybody writes to them. */
export interface Declared {
  /** What the fields of a collection are; `undefined` where nothing is said. */
  schemaOf(collection: string): Schema | undefined;
  /** Collections that have their room, whatever others begin. */
  readonly reserved: ReadonlySet<string>;
}

/**
 * The first of some commits that may not be folded.
 *
 * @param first number of the first of them
 * @param accepted how many commits of the chain were accepted before a log was lost: they are not asked about
 */
export function checkMerge(
  known: State | Outline,
  first: number,
  patches: readonly DecodedPatch[],
  declared?: Declared,
  accepted = 0,
): Refusal | undefined {
  const begun = new Begun(known, declared);
  for (const [i, { operations }] of patches.entries()) {
    const number = first + i;
    for (const operation of operations) {
      const refusal = begun.take(operation);
      if (refusal !== undefined && number >= accepted) {
        return { ...refusal, number };
      }
    }
  }
  return undefined;
}

/** Collections, fields and generations that a batch begins, and what it counts. */
class Begun {
  readonly #known: State | Outline;
  /** Without, nobody says what is written now. */
  readonly #state: State | undefined;
  readonly #declared: Declared | undefined;
  readonly #kinds = new Map<string, Map<string, FieldKind>>();
  /** Generations that are written now, by collection and id, where that is the work of the batch. */
  readonly #due = new Map<string, number>();
  /** Sums of counters, by field, generation, collection and id. */
  readonly #sums = new Map<string, bigint>();
  #collections = 0;

  constructor(known: State | Outline, declared: Declared | undefined) {
    this.#known = known;
    this.#state = known instanceof Outline ? undefined : known;
    this.#declared = declared;
  }

  /** Why an operation may not be folded. */
  take(operation: Operation): Refusal | undefined {
    const { what, shape: { collection }, id, generation } = operation;
    const table = this.#known.find(collection);
    const item = `${collection} ${id}`; // No collection has a space in its name.
    const own = this.#due.size > 0 ? this.#due.get(item) : undefined;
    const cell = this.#state?.cellOf(collection, id);
    const due = this.#state ? own ?? dueGeneration(cell) : generation;
    if (generation > due || what === "delete" && generation === due) {
      this.#due.set(item, generation + Number(what === "delete"));
    }
    const over = this.#state === undefined || generation < due
      ? undefined
      : this.#count(operation, cell);
    let begun = this.#kinds.get(collection);
    if (begun === undefined) {
      this.#kinds.set(collection, begun = new Map());
      if (table === undefined && !this.#hasRoom(collection)) {
        const { collectionsMax } = limits;
        const detail =
          `A repository holds at most ${collectionsMax} collections`;
        return refuse("too-large", detail);
      }
    }
    const schema = this.#declared?.schemaOf(collection);
    for (const { name, kind } of writtenBy(operation)) {
      const is = schema?.plan[schema.ordinals.get(name) ?? -1]?.kind ??
        table?.kinds.get(name) ?? begun.get(name);
      if (is === undefined) {
        if (generation >= due) begun.set(name, kind);
      } else if (mergeClassOf(is) !== mergeClassOf(kind)) {
        const detail = `${collection}.${name} is a ${is}, not a ${kind}`;
        return refuse("wrong-kind", detail);
      }
    }
    const { collectionFieldsMax } = limits;
    if ((table?.kinds.size ?? 0) + begun.size > collectionFieldsMax) {
      const detail = `A collection has at most ${collectionFieldsMax} fields`;
      return refuse("too-large", detail);
    }
    // Who skips to the last generation would leave none to everybody else.
    const isSkipped = this.#state === undefined
      ? generation > limits.relayGenerationMax
      : generation > due;
    return isSkipped
      ? refuse("denied", `${item} is of another generation`)
      : over;
  }

  /** Adds up what an operation counts; why it may not. */
  #count(operation: Operation, cell: Cell | undefined): Refusal | undefined {
    const { shape: { collection }, id, generation } = operation;
    let over: Refusal | undefined;
    for (const [name, amount] of countedBy(operation)) {
      const key = `${name} ${generation} ${collection} ${id}`; // Only an id has spaces.
      const total = this.#sums.get(key) ??
        (cell?.generation === generation
          ? stateIn(cell, name, "counter").total
          : 0n);
      const sum = total + BigInt(amount);
      this.#sums.set(key, sum);
      if (mayCount(total, sum)) continue;
      const detail = `${collection}.${name} of ${id} would be ${sum}`;
      over ??= refuse("too-large", detail);
    }
    return over;
  }

  /** Is there room for a collection that the batch begins? */
  #hasRoom(collection: string): boolean {
    let taken = this.#known.size + ++this.#collections;
    const reserved = this.#declared?.reserved;
    if (reserved !== undefined && !reserved.has(collection)) {
      for (const name of reserved) {
        const isThere = this.#known.find(name) ?? this.#kinds.get(name);
        if (isThere === undefined) taken++;
      }
    }
    return taken <= limits.collectionsMax;
  }
}

/** The patches of a batch's commits from index `from` on; `too-large` where they hold over `nodesMax`. */
export function boundedPatches(
  batch: Batch,
  from: number,
): readonly DecodedPatch[] | Refusal {
  const { bytes, first, commits } = batch;
  // No more nodes than bytes: nothing to count.
  if (bytes.length <= limits.nodesMax) return patchesOf(batch, from);
  const detail = `Its batch holds over ${limits.nodesMax} values`;
  const room = { left: limits.nodesMax };
  let operations = 0;
  for (let i = from; i < commits.length; i++) {
    operations += countOperations(payloadOf(batch, commits[i]!));
    if (operations > room.left) return refuseAt(first + i, "too-large", detail);
  }
  const patches: DecodedPatch[] = [];
  for (let i = from; i < commits.length; i++) {
    patches.push(decodePatch(payloadOf(batch, commits[i]!), room));
    if (room.left < 0) return refuseAt(first + i, "too-large", detail);
  }
  return patches;
}
