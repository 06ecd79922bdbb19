/**
 * What a transaction's callback gets: collections that write into it and read
 * through its own writes.
 */

import { refuseOptions } from "../base/known_options.ts";
import type {
  CreateInput,
  Infer,
  Schema,
  UpdateInput,
} from "../schema/schema.ts";
import type { Replica, Transaction } from "../../repo/mod.ts";
import type { Editor } from "./editor.ts";
import { type RowReader, rowReader } from "../schema/reader.ts";

/** The transaction behind a scope, where it is one of `replica`'s; for what writes beside collections. */
export let transactionOf: (
  scope: TransactionScope,
  replica: Replica,
) => Transaction | undefined;

/** A transaction under way; use it only inside the callback. */
export class TransactionScope {
  static {
    transactionOf = (scope, replica) =>
      scope.#replica === replica ? scope.#transaction : undefined;
  }

  readonly #transaction: Transaction;
  readonly #replica: Replica;
  readonly #editorOf: <S extends Schema>(schema: S) => Editor<S>;

  /** Use `repository.transact(callback)`. */
  constructor(
    transaction: Transaction,
    editorOf: <S extends Schema>(schema: S) => Editor<S>,
    replica: Replica,
  ) {
    refuseOptions(this);
    this.#transaction = transaction;
    this.#replica = replica;
    this.#editorOf = editorOf;
  }

  /** A collection inside this transaction. */
  collection<S extends Schema>(schema: S): TransactionCollection<S> {
    return new TransactionCollection(this.#transaction, this.#editorOf(schema));
  }
}

/** A collection inside a transaction: reads by id see the transaction's own writes. */
export class TransactionCollection<S extends Schema> {
  readonly #transaction: Transaction;
  readonly #editor: Editor<S>;
  readonly #row: RowReader<S>;

  /** Use `tx.collection(schema)`. */
  constructor(transaction: Transaction, editor: Editor<S>) {
    refuseOptions(this);
    this.#transaction = transaction;
    this.#editor = editor;
    this.#row = rowReader(editor.table.view);
  }

  /** The item as this transaction sees it. */
  get(id: string): Infer<S> | undefined {
    const item = this.#editor.get(this.#transaction, id);
    return item === undefined ? undefined : this.#row(item);
  }

  /** Is the item there for this transaction? */
  has(id: string): boolean {
    return this.#editor.get(this.#transaction, id) !== undefined;
  }

  /** Creates an item when the transaction commits. */
  create(input: CreateInput<S>): Infer<S> {
    return this.#row(this.#editor.create(this.#transaction, input));
  }

  /** Changes some fields when the transaction commits. */
  update(id: string, input: UpdateInput<S>): Infer<S> {
    return this.#row(this.#editor.update(this.#transaction, id, input));
  }

  /** Creates or changes an item when the transaction commits. */
  upsert(input: CreateInput<S> & { readonly id: string }): Infer<S> {
    return this.#row(this.#editor.upsert(this.#transaction, input));
  }

  /** Deletes an item when the transaction commits. */
  delete(id: string): void {
    this.#editor.delete(this.#transaction, id);
  }
}
