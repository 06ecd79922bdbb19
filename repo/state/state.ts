/**
 * The state of a repository: one table per collection, folded from commits.
 *
 * Merging is reading: nothing here asks who wrote or whether it was signed;
 * what reaches this file was admitted. Never touches log, keys or queries.
 *
 * Architecture invariant: same commits, same state, whatever the order of
 * arrival (law 4).
 */

import { limits } from "../../src/base/limits.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import type { Cell, Origin } from "../../src/schema/cell.ts";
import { fold } from "../../src/schema/merge.ts";
import type { Operation } from "../../src/schema/patch.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import type { ItemChange } from "../../src/schema/source.ts";
import type { View } from "../../src/schema/view.ts";
import { decodeCommit, type LoggedBatch } from "../commit/batch.ts";
import type { Base } from "../checkpoint/base.ts";
import type { Checkpoint, ViewOf } from "../checkpoint/checkpoint.ts";
import { Table } from "./table.ts";
import { getOrMake } from "../../src/base/collections.ts";

export type { ViewOf } from "../checkpoint/checkpoint.ts";

export interface ItemName {
  readonly collection: string;
  readonly id: string;
}

export type Changes = Map<Table, ItemChange[]>;

/** What is folded of a patch; an operation that no log holds has no offset: -1. */
export type Folded = Pick<DecodedPatch, "operations" | "createOffsets">;

/** Hears what each operation that came from elsewhere did to its item. */
export type FoldWatch = (
  operation: Operation,
  before: Cell | undefined,
  after: Cell,
  origin: Origin,
) => void;

export class State {
  /** Hears of what {@linkcode State.foldChanges} folds, while somebody asks which own edits lost. */
  watch: FoldWatch | undefined;
  readonly #tables = new Map<string, Table>();
  readonly #viewOf: ViewOf;

  constructor(viewOf: ViewOf, base?: Pick<Checkpoint, "collections" | "base">) {
    this.#viewOf = viewOf;
    for (const name of base?.collections ?? []) {
      this.#add(name, base?.base(name));
    }
  }

  tables(): Table[] {
    return [...this.#tables.values()];
  }

  get size(): number {
    return this.#tables.size;
  }

  /** The table of a collection, if anything was ever written to it. */
  find(collection: string): Table | undefined {
    return this.#tables.get(collection);
  }

  /** The cell of an item, if it was ever written. */
  cellOf(collection: string, id: string): Cell | undefined {
    return this.#tables.get(collection)?.cellOf(id);
  }

  viewOf(collection: string): View {
    return this.#tables.get(collection)?.view ?? this.#viewOf(collection);
  }

  /** The table of a collection, made when missing: for local writers, who are limited. */
  table(collection: string): Table {
    const known = this.#tables.get(collection);
    if (known !== undefined) return known;
    if (this.#tables.size >= limits.collectionsMax) {
      throw new DatabaseError(
        "value-too-large",
        `Cannot add collection "${collection}": a repository holds at most ${limits.collectionsMax}`,
      );
    }
    return this.#add(collection, undefined);
  }

  /** What was admitted is folded without asking again (law 7). */
  #admitted(collection: string): Table {
    return this.#tables.get(collection) ?? this.#add(collection, undefined);
  }

  #add(name: string, base: Base | undefined): Table {
    const view = this.#viewOf(name);
    const table = new Table(
      base === undefined ? { name, view } : { name, view, base },
    );
    this.#tables.set(name, table);
    return table;
  }

  /** Puts an item in the place of what is known of it: for who has folded it elsewhere; `ordinal` is -1 of a new one. */
  put(collection: string, cell: Cell, ordinal?: number): void {
    this.#admitted(collection).put(cell, ordinal);
  }

  fold(
    { operations, createOffsets }: Folded,
    origin: Origin,
    watch?: FoldWatch,
  ): void {
    for (let i = 0; i < operations.length; i++) {
      const operation = operations[i]!;
      const table = this.#admitted(operation.shape.collection);
      const cell = table.cellOf(operation.id);
      table.kinds.note(operation, cell);
      const after = fold(
        cell,
        operation,
        origin,
        createOffsets[i]!,
        table.view,
      );
      table.put(after);
      watch?.(operation, cell, after, origin);
    }
  }

  /** As {@linkcode fold}, and says what changed where somebody listens, one change per item. */
  foldChanges(patch: Folded, origin: Origin): Changes {
    const touched = new Map<Table, Map<string, Cell | undefined>>();
    for (const { shape, id } of patch.operations) {
      const table = this.#admitted(shape.collection);
      if (!table.isHeard) continue;
      const cells = getOrMake(touched, table, () => new Map());
      if (!cells.has(id)) cells.set(id, table.cellOf(id));
    }
    this.fold(patch, origin, this.watch);
    const changes: Changes = new Map();
    for (const [table, cells] of touched) {
      changes.set(table, changesOf(table, cells));
    }
    return changes;
  }
}

function changesOf(
  table: Table,
  before: Map<string, Cell | undefined>,
): ItemChange[] {
  const changes: ItemChange[] = [];
  for (const [id, cell] of before) {
    const ordinal = table.ordinalOf(id);
    const after = table.itemAt(ordinal);
    if (cell?.item !== after) {
      changes.push({ ordinal, before: cell?.item, after });
    }
  }
  return changes;
}

export function publish(changes: Changes): void {
  for (const [table, list] of changes) if (list.length > 0) table.publish(list);
}

/** Of what a commit says the operations for which it holds. */
export function onlyOf(
  patch: DecodedPatch,
  isMeant: (operation: Operation) => boolean,
): DecodedPatch {
  const { operations, createOffsets } = patch;
  return {
    ...patch,
    operations: operations.filter(isMeant),
    createOffsets: createOffsets.filter((_, i) => isMeant(operations[i]!)),
  };
}

/** Takes what a commit says into cells. */
type Fold = (patch: DecodedPatch, origin: Origin, number: number) => void;

/** What a repair could not connect, and shows already. */
interface Shown {
  unfolded(chain: string, number: number, patch: DecodedPatch): DecodedPatch;
}

/** Folds the commits that count of a batch in the log: the only way from batches to cells. */
export function foldBatch(
  { batch, address, from }: LoggedBatch,
  fold: Fold,
  salvage?: Shown,
  patches?: readonly DecodedPatch[],
): void {
  const { chain, commits } = batch;
  for (let i = from; i < commits.length; i++) {
    if (commits[i]!.isVoid) continue;
    const commit = decodeCommit(batch, i, address, patches?.[i - from]);
    const { number, patch, origin } = commit;
    fold(salvage?.unfolded(chain, number, patch) ?? patch, origin, number);
  }
}

interface Folding {
  readonly items: {
    readonly outline: { fold(patch: DecodedPatch): void } | undefined;
    readonly folded: State | undefined;
  };
  readonly salvage: Shown | undefined;
}

/** What several transactions did, one change per item: told once. */
export class ChangeList {
  readonly #tables = new Map<Table, Map<number, ItemChange>>();

  add(changes: Changes): void {
    for (const [table, list] of changes) {
      const known = getOrMake(this.#tables, table, () => new Map());
      for (const change of list) {
        const { ordinal } = change;
        const before = known.get(ordinal);
        known.set(
          ordinal,
          before === undefined ? change : { ...change, before: before.before },
        );
      }
    }
  }

  /** Folds what a batch has beyond what was known, which says `patches`. */
  fold(
    { items, salvage }: Folding,
    logged: LoggedBatch,
    patches: readonly DecodedPatch[],
  ): void {
    if (items.outline !== undefined) {
      for (const patch of patches) items.outline.fold(patch);
    }
    const state = items.folded;
    if (state === undefined) return;
    foldBatch(
      logged,
      (patch, origin) => this.add(state.foldChanges(patch, origin)),
      salvage,
      patches,
    );
  }

  publish(): void {
    for (const [table, changes] of this.#tables) {
      table.publish([...changes.values()]);
    }
    this.#tables.clear();
  }
}
