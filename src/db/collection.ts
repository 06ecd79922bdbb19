/** A collection that can be written: each call is one atomic transaction. */

import { DatabaseError } from "../base/errors.ts";
import type {
  CreateInput,
  Infer,
  Schema,
  UpdateInput,
} from "../schema/schema.ts";
import type { Replica, Violation } from "../../repo/mod.ts";
import type { Editor } from "./editor.ts";
import type { FieldDifference } from "../schema/describe.ts";
import {
  type CommitSummary,
  type HistoryPage,
  itemDifference,
  itemHistory,
} from "./history.ts";
import {
  type CollectionParts,
  ReadableCollection,
} from "./readable_collection.ts";
import type { OverwrittenListener } from "./overwritten.ts";
import type { OverwrittenReader } from "./overwritten_reader.ts";
import { type Arrivals, ItemWrite, Write } from "./write.ts";

/** What a writable collection needs besides what it reads from. */
export interface WritableParts<S extends Schema> extends CollectionParts<S> {
  readonly replica: Replica;
  readonly editor: Editor<S>;
  readonly arrivals: Arrivals;
  /** Tells which own edits lost: loaded when somebody listens. */
  readonly overwritten: () => Promise<OverwrittenReader>;
}

/** The items of one schema in one repository. */
export class Collection<S extends Schema> extends ReadableCollection<S> {
  readonly #replica: Replica;
  readonly #editor: Editor<S>;
  readonly #arrivals: Arrivals;
  readonly #overwritten: WritableParts<S>["overwritten"];

  /** Use `repository.collection(schema)`. */
  constructor(parts: WritableParts<S>) {
    super(parts);
    this.#replica = parts.replica;
    this.#editor = parts.editor;
    this.#arrivals = parts.arrivals;
    this.#overwritten = parts.overwritten;
  }

  /**
   * Creates an item. It is visible at once; await the handle for durability.
   *
   * @throws {DatabaseError} `item-exists`, `invalid-value`, `invalid-id`,
   * `unknown-field`, `value-too-large`, `denied`, `constraint`, `closed`, or the
   * failure that made the repository read-only
   */
  create(input: CreateInput<S>): ItemWrite<Infer<S>> {
    const done = this.#replica.transact((tx) => this.#editor.create(tx, input));
    return new ItemWrite(this.row(done.result), done, this.#arrivals);
  }

  /** Creates many items as one atomic commit. Throws as {@linkcode create}. */
  createMany(inputs: Iterable<CreateInput<S>>): Write<Infer<S>[]> {
    if (typeof inputs?.[Symbol.iterator] !== "function") {
      throw new DatabaseError(
        "invalid-value",
        "createMany() takes a list of items; create() takes one",
      );
    }
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

  /**
   * Calls with edits of this device that lost to somebody who had not seen them,
   * also those that nobody has taken before a reload; the result ends it. They
   * are taken when the listener returns, or its promise resolves.
   *
   * @throws {DatabaseError} `closed`
   */
  onOverwritten(listener: OverwrittenListener<S>): () => void {
    this.#replica.check();
    const { schema } = this;
    const { view } = this.#editor.table;
    const ending = this.#overwritten()
      .then((reader) => reader.listen({ schema, view }, listener));
    return () => void ending.then((end) => end());
  }

  /**
   * What is against the constraints of the schema here: what was there before
   * they were declared, or came from writers that did not know them. The first
   * of it, if it is much.
   */
  violations(): readonly Violation[] {
    this.#replica.check();
    return this.#replica.loaded.constraints?.violations(this.name) ?? [];
  }

  /**
   * The commits that touched an item, oldest first: who, when and what. All, or
   * a page of them.
   *
   * @throws {DatabaseError} `commit-missing` where `before` did not touch the item,
   * `invalid-option`, `closed`
   */
  history(id: string, page?: HistoryPage): CommitSummary[] {
    this.#replica.check();
    this.#replica.flush();
    return itemHistory(this.#replica, { collection: this.name, id }, page);
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
