/**
 * What `server/` and the inspector need of the objects that users hold, past
 * their public face.
 *
 * Never exported from `mod.ts`.
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

export interface DatabaseInternals {
  readonly storage: Storage;
  readonly world: World;
  readonly keyring: Keyring;
  /** Hears of damage that was found in what is open; absent where its files are elsewhere. */
  readonly onDamaged?: (hear: HearDamage) => void;
}

/** Notes something of objects that users hold, and says what was noted. */
function notes<T>() {
  const known = new WeakMap<object, T>();
  const note = (object: object, what: T): void => void known.set(object, what);
  const of = (object: object): T => {
    const what = known.get(object);
    assert(what !== undefined, "openDatabase() made it, or its repositories");
    return what;
  };
  return [note, of] as const;
}

/** What a database is made of. */
export const [noteInternals, internalsOf] = notes<DatabaseInternals>();

/** The replica behind a repository. */
export const [noteReplica, replicaOf] = notes<Replica>();

/** Sees every frame of a connection, which it must not change or keep. */
export type Tap = (way: "in" | "out", frame: Uint8Array) => void;

export interface Frame {
  /** When, in milliseconds since 1970. */
  readonly at: number;
  readonly way: "in" | "out";
  /** What it is, as docs/protocol.md names it; "unreadable" where it is nothing. */
  readonly kind: string;
  readonly bytes: number;
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
export const [noteObservable, observableOf] = notes<Observable>();

const opened = new WeakMap<object, OpenRepository>();

/** Notes what else is behind a repository. */
export function noteOpened(
  repository: object,
  parts: Omit<OpenRepository, "repository" | "replica">,
): void {
  const replica = replicaOf(repository);
  opened.set(repository, { repository, replica, ...parts });
}

/** What is behind a repository; nothing, where it has no items to look at. */
export function openedOf(repository: object): OpenRepository[] {
  const one = opened.get(repository);
  return one === undefined ? [] : [one];
}
