/**
 * Entries inside one transaction: it reads its own writes.
 *
 * Everything that a store writes goes through here, so that a write alone and
 * one among others are the same.
 *
 * @module
 */

import { DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { World } from "../base/world.ts";
import type { Item } from "../schema/patch.ts";
import type { Transaction } from "../../repo/mod.ts";
import { encodeValue } from "./codec.ts";
import {
  absent,
  digestOf,
  digestOfItem,
  isThere,
  type Registers,
  valueOf,
} from "./entry.ts";
import { expiryFrom, type ExpiryOptions } from "./options.ts";
import { copyIn, type KvValue, tooLarge } from "./value.ts";
import type { EntryWriter } from "./writer.ts";

/** A store inside a transaction; use it only inside the callback. */
export class KvScope<V = KvValue> {
  readonly #transaction: Transaction;
  readonly #writer: EntryWriter;
  readonly #world: World;

  /** Use `kv.within(tx)`. */
  constructor(transaction: Transaction, writer: EntryWriter, world: World) {
    this.#transaction = transaction;
    this.#writer = writer;
    this.#world = world;
  }

  /** The item of an entry that is there for this transaction. */
  #itemOf(key: string): Item | undefined {
    const item = this.#writer.itemOf(this.#transaction, key);
    return isThere(item, this.#world.now()) ? item : undefined;
  }

  /** The value of a key as this transaction sees it. */
  get(key: string): V | undefined {
    const item = this.#itemOf(key);
    return item && valueOf(item) as V | undefined;
  }

  /** Is the entry there for this transaction? */
  exists(key: string): boolean {
    return this.#itemOf(key) !== undefined;
  }

  /** Writes an entry when the transaction commits. Throws as `kv.set`. */
  set(key: string, value: V, options?: ExpiryOptions): void {
    const registers = this.#registersOf(value, options);
    this.#writer.put(this.#transaction, key, registers);
  }

  /** Takes an entry away when the transaction commits; false when it is not there. */
  delete(key: string): boolean {
    if (!this.exists(key)) return false;
    this.#writer.put(this.#transaction, key, absent);
    return true;
  }

  /** Writes only where the value is `expected` for this transaction. As `kv.compareAndSet`. */
  compareAndSet(
    key: string,
    expected: V | undefined,
    value: V | undefined,
    options?: ExpiryOptions,
  ): boolean {
    const digest = digestOf(
      expected === undefined ? undefined : copyIn(expected).value,
    );
    const registers = value === undefined
      ? absent
      : this.#registersOf(value, options);
    const item = this.#writer.itemOf(this.#transaction, key);
    if (digestOfItem(item, this.#world.now()) !== digest) return false;
    const own = { ...registers, expected: digest };
    this.#writer.put(this.#transaction, key, own);
    return true;
  }

  #registersOf(given: V, options: ExpiryOptions | undefined): Registers {
    const expiresAt = options === undefined
      ? undefined
      : expiryFrom(options, this.#world);
    const { value, isJson } = copyIn(given);
    const expected = undefined;
    if (isJson) {
      // What JSON can say is one of the patch's own values.
      const json = value as Registers["value"];
      return { value: json, data: undefined, expiresAt, expected };
    }
    const data = encodeValue(value);
    if (data.length > limits.kvValueBytesMax) tooLarge();
    return { value: undefined, data, expiresAt, expected };
  }
}

/** What is said to who brings a transaction of elsewhere. */
export function foreignTransaction(): never {
  throw new DatabaseError(
    "invalid-option",
    "This transaction is of another repository: open the store on the one that transacts",
  );
}
