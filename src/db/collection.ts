/**
 * A collection that can be written: each call is one atomic transaction.
 *
 * @module
 */

import type {
  CreateInput,
  Infer,
  Schema,
  UpdateInput,
} from "../schema/schema.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Editor } from "./editor.ts";
import type { FieldDifference } from "../schema/describe.ts";
import { type CommitSummary, itemDifference, itemHistory } from "./history.ts";
import {
  type CollectionParts,
  ReadableCollection,
} from "./readable_collection.ts";
import { type Arrivals, ItemWrite, Write } from "./write.ts";

/** What a writable collection needs besides what it reads from. */
export interface WritableParts<S extends Schema> extends CollectionParts<S> {
  readonly replica: Replica;
  readonly editor: Editor<S>;
  readonly arrivals: Arrivals;
}

/** The items of one schema in one repository. */
export class Collection<S extends Schema> extends ReadableCollection<S> {
  readonly #replica: Replica;
  readonly #editor: Editor<S>;
  readonly #arrivals: Arrivals;

  /** Use `repository.collection(schema)`. */
  constructor(parts: WritableParts<S>) {
    super(parts);
    this.#replica = parts.replica;
    this.#editor = parts.editor;
    this.#arrivals = parts.arrivals;
  }

  /**
   * Creates an item. It is visible at once; await the handle for durability.
   *
   * @throws {DatabaseError} `item-exists`, `invalid-value`, `invalid-id`,
   * `unknown-field`, `value-too-large`, `closed`, or the failure that made the
   * repository read-only
   */
  create(input: CreateInput<S>): ItemWrite<Infer<S>> {
    const done = this.#replica.transact((tx) => this.#editor.create(tx, input));
    return new ItemWrite(this.row(done.result), done, this.#arrivals);
  }

  /** Creates many items as one atomic commit. Throws as {@linkcode create}. */
  createMany(inputs: Iterable<CreateInput<S>>): Write<Infer<S>[]> {
    const done = this.#replica.transact((tx) => {
      const items: Infer<S>[] = [];
      for (const input of inputs) {
        items.push(this.row(this.#editor.create(tx, input)));
      }
      return items;
    });
    return new Write(done.result, done, this.#arrivals);
  }

  /**
   * Changes some fields; only what differs is written and travels.
   *
   * @throws {DatabaseError} `item-missing`, and as {@linkcode create}
   */
  update(id: string, input: UpdateInput<S>): ItemWrite<Infer<S>> {
    const done = this.#replica.transact((tx) =>
      this.#editor.update(tx, id, input)
    );
    return new ItemWrite(this.row(done.result), done, this.#arrivals);
  }

  /** Creates the item, or changes the given fields where it is there. */
  upsert(input: CreateInput<S> & { readonly id: string }): ItemWrite<Infer<S>> {
    const done = this.#replica.transact((tx) => this.#editor.upsert(tx, input));
    return new ItemWrite(this.row(done.result), done, this.#arrivals);
  }

  /** Deletes an item. @throws {DatabaseError} `item-missing` when it is not there */
  delete(id: string): Write<void> {
    const done = this.#replica.transact((tx) => this.#editor.delete(tx, id));
    return new Write<void>(undefined, done, this.#arrivals);
  }

  /** The commits that touched an item, oldest first: who, when and what. */
  history(id: string): CommitSummary[] {
    this.#replica.check();
    this.#replica.flush();
    return itemHistory(this.#replica, { collection: this.name, id });
  }

  /**
   * The fields in which an item differs between two commits, or moments.
   *
   * @throws {DatabaseError} `commit-missing`, `invalid-option`, `closed`
   */
  diff(id: string, from: string | Date, to: string | Date): FieldDifference[] {
    this.#replica.check();
    this.#replica.flush();
    const item = { collection: this.name, id };
    return itemDifference(this.#replica, this.#editor.table.view, item, [
      from,
      to,
    ]);
  }
}
