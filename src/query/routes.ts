/**
 * Whom a transaction touches. A live result that asks for values of some fields
 * hears of items that have them now, and of those that it holds: what came late,
 * or was told together with something else, still finds who must let it go.
 * Every other one hears of all.
 *
 *     fields   author, done   →   "ada\0" + "0"   →   who asks for these
 *     held     ordinal                            →   who has it
 *
 * @module
 */

import type { FieldKind } from "../schema/patch.ts";
import type { Follower } from "./engine.ts";
import type { Request } from "./plan.ts";
import type { Source } from "./source.ts";
import { type Key, keyOf } from "./value.ts";

/** What can touch a live result. */
export interface Interest {
  readonly fields: readonly (readonly [name: string, kind: FieldKind])[];
  /** {@linkcode jointKey}s of these fields: any of them. */
  readonly keys: readonly string[];
  /** Items that it has, whatever their values are now; absent where ids alone say it. */
  readonly held?: Held<unknown>;
}

/** Items by ordinal, as a live result has them; who is told of each hears of no other. */
export class Held<T> extends Map<number, T> {
  #hold: ((ordinal: number) => void) | undefined;
  #release: ((ordinal: number) => void) | undefined;

  /** Tells of each ordinal that is held, and then of those that come and go. */
  watch(
    hold: (ordinal: number) => void,
    release: (ordinal: number) => void,
  ): void {
    for (const ordinal of this.keys()) hold(ordinal);
    this.#hold = hold;
    this.#release = release;
  }

  /** Tells that none is held, and of nothing more. */
  unwatch(): void {
    for (const ordinal of this.keys()) this.#release?.(ordinal);
    this.#hold = this.#release = undefined;
  }

  override set(ordinal: number, value: T): this {
    this.#hold?.(ordinal);
    return super.set(ordinal, value);
  }

  override delete(ordinal: number): boolean {
    this.#release?.(ordinal);
    return super.delete(ordinal);
  }

  override clear(): void {
    for (const ordinal of this.keys()) this.#release?.(ordinal);
    super.clear();
  }
}

/** Followers that ask for values of the same fields. */
interface Group {
  readonly fields: Interest["fields"];
  readonly byKey: Map<string, Set<Follower>>;
}

/** All followers of one collection. */
export class Routes {
  readonly #all = new Set<Follower>();
  readonly #ofAll = new Set<Follower>();
  readonly #groups = new Map<string, Group>();
  /** Most items are held once: a set of one would cost more than the rest. */
  readonly #holders = new Map<number, Follower | Set<Follower>>();

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** All of them. */
  followers(): Follower[] {
    return [...this.#all];
  }

  /** Takes one; the result lets it go. */
  add(follower: Follower): () => void {
    this.#all.add(follower);
    const { interest } = follower;
    if (interest === undefined) this.#ofAll.add(follower);
    else this.#route(follower, interest);
    return () => {
      if (!this.#all.delete(follower)) return;
      if (interest === undefined) this.#ofAll.delete(follower);
      else this.#unroute(follower, interest);
    };
  }

  #route(follower: Follower, { fields, keys, held }: Interest): void {
    const name = nameOf(fields);
    const group = this.#groups.get(name) ?? { fields, byKey: new Map() };
    this.#groups.set(name, group);
    for (const key of keys) {
      const some = group.byKey.get(key) ?? new Set();
      group.byKey.set(key, some.add(follower));
    }
    held?.watch(
      (ordinal) => this.#hold(ordinal, follower),
      (ordinal) => this.#release(ordinal, follower),
    );
  }

  #unroute(follower: Follower, { fields, keys, held }: Interest): void {
    const name = nameOf(fields);
    const byKey = this.#groups.get(name)?.byKey; // None, where there is no key.
    for (const key of keys) {
      const some = byKey!.get(key)!;
      some.delete(follower);
      if (some.size === 0) byKey!.delete(key);
    }
    if (byKey?.size === 0) this.#groups.delete(name);
    held?.unwatch();
  }

  #hold(ordinal: number, follower: Follower): void {
    const holder = this.#holders.get(ordinal);
    if (holder instanceof Set) holder.add(follower);
    else if (holder === undefined) this.#holders.set(ordinal, follower);
    else if (holder !== follower) {
      this.#holders.set(ordinal, new Set([holder, follower]));
    }
  }

  #release(ordinal: number, follower: Follower): void {
    const holder = this.#holders.get(ordinal);
    if (holder instanceof Set) {
      holder.delete(follower);
      if (holder.size === 0) this.#holders.delete(ordinal);
    } else if (holder === follower) this.#holders.delete(ordinal);
  }

  /** Calls with each follower that these ordinals may touch, and with those that do. */
  tell(
    ordinals: readonly number[],
    source: Source,
    told: (follower: Follower, ordinals: readonly number[]) => void,
  ): void {
    const touched = this.#touched(ordinals, source);
    for (const follower of this.#ofAll) told(follower, ordinals);
    for (const [follower, some] of touched) {
      if (this.#all.has(follower)) told(follower, some);
    }
  }

  #touched(
    ordinals: readonly number[],
    source: Source,
  ): Map<Follower, readonly number[]> {
    const touched = new Map<Follower, number[]>();
    if (this.#groups.size === 0) return touched;
    for (const ordinal of ordinals) {
      const note = (follower: Follower) => {
        const some = touched.get(follower);
        if (some === undefined) touched.set(follower, [ordinal]);
        else if (some.at(-1) !== ordinal) some.push(ordinal);
      };
      const holder = this.#holders.get(ordinal);
      if (holder instanceof Set) holder.forEach(note);
      else if (holder !== undefined) note(holder);
      for (const { fields, byKey } of this.#groups.values()) {
        const key = keyAt(source, ordinal, fields);
        if (key !== undefined) byKey.get(key)?.forEach(note);
      }
    }
    return touched;
  }

  /** Lets all go. */
  clear(): void {
    this.#all.clear();
    this.#ofAll.clear();
    this.#groups.clear();
    this.#holders.clear();
  }
}

/** What can touch the rows of a request, where it asks for values; it matches nothing without them. */
export function interestOf(
  { parts }: Request,
  held: Held<unknown>,
): Interest | undefined {
  const equal = parts.filter((part) => part.what === "equal");
  if (equal.length > 0) {
    const fields = equal.map(({ field, kind }) => [field, kind] as const);
    return { fields, keys: [jointKey(equal.map(({ key }) => key))], held };
  }
  const some = parts.find((part) => part.what === "in");
  if (some === undefined) return undefined;
  const keys = new Set(some.keys.map((key) => jointKey([key])));
  return { fields: [[some.field, some.kind]], keys: [...keys], held };
}

/** One text for a key of each field. Two may have the same: a live result tests what it is told of. */
export function jointKey(keys: readonly Key[]): string {
  return keys.join("\0");
}

/** The {@linkcode jointKey} that an item has now; ids stay when it is gone. */
function keyAt(
  source: Source,
  ordinal: number,
  fields: Interest["fields"],
): string | undefined {
  const keys: Key[] = [];
  for (const [field, kind] of fields) {
    const value = field === "id"
      ? source.idAt(ordinal)
      : source.itemAt(ordinal)?.[field];
    const key = keyOf(kind, value);
    if (key === null) return undefined;
    keys.push(key);
  }
  return jointKey(keys);
}

function nameOf(fields: Interest["fields"]): string {
  return fields.map(([name]) => name).join("\0");
}
