/**
 * What `server/` and the inspector need of the objects that users hold, past
 * their public face: these have it under a symbol, never exported from `mod.ts`.
 */

import { assert } from "../base/errors.ts";
import type { World } from "../base/world.ts";
import type { Rules } from "../schema/rules.ts";
import type { Storage } from "../storage/storage.ts";
import type { Replica } from "../../repo/mod.ts";
import type { Engines } from "./engines.ts";
import type { Keyring } from "./keyring.ts";
import type { HearDamage } from "./scrubbing.ts";
import type { Arrivals } from "./write.ts";

/** The name of what is inside. */
export const inside: unique symbol = Symbol("inside");

function insideOf<T>(object: object): T {
  assert(inside in object, "openDatabase() made it, or its repositories");
  return object[inside] as T;
}

/** What a database is made of whose files are here. */
export interface DatabaseInternals extends Observable {
  readonly storage: Storage;
  readonly keyring: Keyring;
  /** Hears of damage that was found in what is open. */
  readonly onDamaged: (hear: HearDamage) => void;
}

export function internalsOf(database: object): DatabaseInternals {
  return insideOf(database);
}

/** The replica behind a repository. */
export function replicaOf(repository: object): Replica {
  return insideOf<OpenRepository>(repository).replica;
}

/** Sees every frame of a connection, which it must not change or keep. */
export type Tap = (way: "in" | "out", frame: Uint8Array) => void;

/** How many commits of a chain the server has accepted, and when the last of them, by its clock. */
export type AcceptedChain = readonly [
  chain: string,
  readonly [commits: number, at: number],
];

export interface Frame {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly way: "in" | "out";
  /** What it is, as docs/protocol.md names it; "unreadable" where it is nothing. */
  readonly kind: string;
  readonly bytes: number;
  /** What it tells of the order of acceptance, the newest. */
  readonly accepted: readonly AcceptedChain[];
}

export type FrameTap = (frame: Frame) => void;

export interface OpenRepository {
  readonly repository: object;
  readonly replica: Replica;
  readonly engines: Engines;
  readonly world: World;
  readonly arrivals: Arrivals;
  /** Writes down what can be undone, where undo is in use. */
  readonly saveUndo: () => void;
}

/** A database, as far as an inspector looks into it. */
export interface Observable {
  readonly world: World;
  readonly rules: Rules | undefined;
  open(): readonly OpenRepository[];
  /** Shows the frames of the connection to `tap`, or no more to anybody. */
  tap(tap: FrameTap | undefined): void;
}

/** How to look into a database. */
export function observableOf(database: object): Observable {
  return insideOf(database);
}

/** What is behind a repository; nothing, where it has no items to look at. */
export function openedOf(
  repository: { readonly [inside]?: Partial<OpenRepository> },
): OpenRepository[] {
  const one = repository?.[inside];
  return one?.engines === undefined ? [] : [one as OpenRepository];
}
