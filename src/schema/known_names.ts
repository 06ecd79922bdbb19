/**
 * Names at the gate: what an operation names must be known at its place.
 *
 * Set tags, list elements and units of texts are named before they are brought
 * only by who lies: a remove of adds that nobody has made yet would suppress
 * them when they come. An operation may name what is here and what came before
 * it in its commit and its batch. And nobody brings what is another's to bring:
 * an element with the name of a create to come, or units of a text that are not
 * the next ones of their client.
 */

import { type Refusal, refuseAt } from "../base/errors.ts";
import {
  compareHlc,
  compareStamps,
  type Hlc,
  type Stamp,
} from "../base/hlc.ts";
import { isHistory, type Origin } from "./cell.ts";
import type { CommitJudge, JudgedWrite } from "./judge.ts";
import { isRichClass, mergeClassOf, type RichClass } from "./kinds.ts";
import { stateIn } from "./merge.ts";
import type { Change, Operation, UpdateOperation } from "./patch.ts";
import type { DecodedPatch } from "./patch_codec.ts";
import { parseCreatedName, partOf } from "./rechain.ts";
import { rich } from "./rich.ts";
import type { ListState } from "./rich_list.ts";
import type { SetState } from "./rich_set.ts";
import type { RichState } from "./rich_state.ts";
import type { TextState } from "./text_state.ts";

/** The collections in which operations name what others have brought, or bring units of texts. */
export function namingCollections(
  patches: readonly DecodedPatch[],
): ReadonlySet<string> {
  const collections = new Set<string>();
  for (const { operations } of patches) {
    for (const operation of operations) {
      if (isNaming(operation)) collections.add(operation.shape.collection);
    }
  }
  return collections;
}

function isNaming(operation: Operation): operation is UpdateOperation {
  return operation.what === "update" &&
    operation.changes.some(({ change }) => names(change));
}

function names(change: Change): boolean {
  switch (change.what) {
    case "remove":
    case "move":
    case "delete":
    case "replace":
    case "edit":
      return true;
    case "insert":
      return change.elements.some(({ element }) =>
        parseCreatedName(element) !== undefined
      );
    default:
      return false;
  }
}

export class NameJudge implements CommitJudge {
  readonly #collections: ReadonlySet<string>;
  readonly #lastOf: (part: string) => Hlc | undefined;

  /**
   * @param collections in which operations name anything
   * @param lastOf the clock of the last commit of a chain, by the part of its name that stands in names of elements
   */
  constructor(
    collections: ReadonlySet<string>,
    lastOf: (part: string) => Hlc | undefined,
  ) {
    this.#collections = collections;
    this.#lastOf = lastOf;
  }

  asksOf(collection: string): boolean {
    return this.#collections.has(collection);
  }

  judgeWrite(
    write: JudgedWrite,
    number: number,
    origin: Origin,
  ): Refusal | undefined {
    const unknown = this.#unknownIn(write, origin);
    if (unknown === undefined) return undefined;
    const { id, shape: { collection } } = write.operation;
    const detail = `${collection} ${id} has no ${unknown}`;
    return refuseAt(number, "unknown-name", detail);
  }

  /** What an operation names that is not known; `undefined` when all is. */
  #unknownIn(
    { operation, before }: JudgedWrite,
    origin: Origin,
  ): string | undefined {
    if (!isNaming(operation) || isHistory(operation, before)) return undefined;
    const isThere = before?.generation === operation.generation;
    const states = new Map<string, RichState>();
    const stateOf = (name: string, merge: RichClass) =>
      states.get(name) ??
        (isThere ? stateIn(before, name, merge) : rich.kinds[merge].empty);
    const { changes } = operation;
    const last = new Map(changes.map(({ field }, i) => [field.name, i]));
    for (const [i, { field: { name, kind }, change }] of changes.entries()) {
      const merge = mergeClassOf(kind);
      if (!isRichClass(merge)) continue;
      const state = stateOf(name, merge);
      const unknown = this.#unknown(state, change, origin);
      if (unknown !== undefined) return `${unknown} in ${name}`;
      // Only a later change of the field needs to know.
      if (last.get(name) === i) continue;
      states.set(name, rich.changeState(state, change, origin));
    }
    return undefined;
  }

  #unknown(
    state: RichState,
    change: Change,
    origin: Origin,
  ): string | undefined {
    switch (state.merge) {
      case "set":
        return change.what === "remove" && !hasTags(state, change, origin)
          ? "such add"
          : undefined;
      case "list":
        return this.#hasElements(state, change, origin)
          ? undefined
          : "such element";
      case "text":
        return change.what === "edit" && !hasUnits(state, change.text)
          ? "such units"
          : undefined;
      default:
        return undefined;
    }
  }

  #hasElements(state: ListState, change: Change, origin: Origin): boolean {
    const has = (element: string) =>
      state.elements.has(element) || state.deleted.has(element);
    switch (change.what) {
      case "insert":
        return change.elements.every(({ element }) =>
          has(element) || this.#mayBring(element, origin)
        );
      case "move":
        return change.moves.every(({ element }) => has(element));
      case "delete":
        return change.elements.every(has);
      case "replace":
        return change.values.every(([element]) => has(element));
      default:
        return true;
    }
  }

  /** Is it no name of a create that is still to come? */
  #mayBring(element: string, origin: Origin): boolean {
    const created = parseCreatedName(element);
    if (created === undefined) return true;
    if (created.part === partOf(origin.chain)) {
      return compareHlc(created, origin) <= 0;
    }
    const last = this.#lastOf(created.part);
    return last !== undefined && compareHlc(created, last) <= 0;
  }
}

function hasTags(
  { tags, gone }: SetState,
  { values }: Change & { readonly what: "remove" },
  own: Stamp,
): boolean {
  return values.every(({ value, tags: seen }) =>
    seen.every((stamp) => {
      const tag = { value, stamp };
      return tags.has(tag) || gone.has(tag) || compareStamps(stamp, own) === 0;
    })
  );
}

/** Does a change of a text stand on units that are there, and bring the next ones of its client? */
function hasUnits(state: TextState, change: TextState): boolean {
  for (const [client, { runs, gone }] of change.clients) {
    if (!gone.every((span) => state.covers(client, span))) return false;
    let next = state.endOf(client);
    for (const { clock, length, left, right } of runs) {
      if (clock !== next) return false;
      next += length;
      for (const id of [left, right]) {
        const isOwn = id?.client === client && id.clock < clock;
        if (id === undefined || isOwn) continue;
        const { client: other, clock: at } = id;
        if (!state.covers(other, { clock: at, length: 1 })) return false;
      }
    }
  }
  return true;
}
