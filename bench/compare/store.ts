/**
 * What the suite `compare` asks of a database, whichever it is.
 *
 * An answer that an engine can give at once is a value, not a promise:
 * awaiting would add a turn of the event loop to a figure of a microsecond.
 * What a write promises when it is done is its engine's durability.
 *
 * @module
 */

import type { Durability } from "../harness/figure.ts";
import type { Item } from "../harness/items.ts";

/** At once, or later. */
export type Soon<T> = T | Promise<T>;

/** Where an engine keeps its data, and finds its packages. */
export interface Place {
  /** Of this store alone; exists. */
  readonly folder: string;
  /** The folder in whose `node_modules` the peers are. */
  readonly peers: string;
  /** Of servers, by engine. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** One open database holding one collection of items. */
export interface Store {
  /** Where only the running engine can know it: a server's own settings. */
  readonly durability?: Durability;
  /** One item; done when acknowledged. */
  insert(item: Item): Soon<unknown>;
  /** All in one transaction, or the nearest that the engine has; done when acknowledged. */
  insertMany(items: readonly Item[]): Soon<unknown>;
  /** One item by its id. */
  get(id: string): Soon<Item | undefined>;
  /** All items, in any order. */
  all(): Soon<readonly Item[]>;
  /** Closes it; what the engine keeps is on disk afterwards. */
  close(): Soon<unknown>;
  /** Removes what is kept outside of the folder: a server's tables and keys. */
  remove?(): Soon<unknown>;
}

/** A database that has been loaded and can be opened, more than once where it keeps its data. */
export interface Engine {
  open(): Soon<Store>;
}

/** Loads an engine for a place: everything that opening need not do again. */
export type Load = (place: Place) => Soon<Engine>;

/** Fields beside the id, for engines whose key is not part of the value. */
export type Fields = Omit<Item, "id">;

/** An item as a key and the rest. */
export function splitItem({ id, ...fields }: Item): [string, Fields] {
  return [id, fields];
}

/** The other way: `fields` are those of {@linkcode splitItem}, or nothing. */
export function itemOf(id: string, fields: unknown): Item | undefined {
  return fields === undefined || fields === null
    ? undefined
    : { id, ...fields as Fields };
}

/** A name for what a server keeps for this folder alone: what is not a letter or a digit goes. */
export function ownName(folder: string): string {
  return folder.replaceAll(/[^A-Za-z0-9]/g, "").slice(-40).toLowerCase();
}
