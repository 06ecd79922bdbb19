/**
 * Whom a transaction touches. A live result that asks for values of some fields,
 * for a span of them, or for the first ones in their order hears of items that
 * lie within now, and of those that it holds: what came late, or was told together
 * with something else, still finds who must let it go. Every other one hears of all.
 *
 *     fields   author, done   →   "ada\0" + "0"   →   rank: who asks for which span
 *     held     ordinal                            →   who has it
 */

import type { Item } from "../schema/patch.ts";
import {
  elementKeys,
  hasElements,
  type Interest,
  jointKey,
  type NamedField,
  type Route,
} from "./interest.ts";
import type { Request } from "./plan.ts";
import type { Source } from "../schema/source.ts";
import { intersection, type Span, type Spanned, Spans } from "./spans.ts";
import { type Key, keyOf } from "./value.ts";

/** Something that is kept up to date with a collection. */
export interface Follower {
  /** Takes the new state of these ordinals; callbacks go through `tell`. */
  absorb(ordinals: readonly number[]): void;
  end(): void;
  /** What can touch it; absent when anything can. */
  readonly interest?: Interest;
  /** What is kept up to date, for who asks what it costs. */
  readonly about?: CostedResult;
}

/** A live result, as far as who watches costs wants to know it. */
export interface CostedResult {
  readonly request: Request;
  count(): number;
}

interface Group {
  readonly name: string;
  readonly fields: readonly NamedField[];
  readonly spanned: NamedField | undefined;
  readonly byKey: Map<string, Spans<Member>>;
}

interface Place {
  readonly route: Route;
  readonly group: Group;
  readonly key: string;
  span: Spanned<Member>;
}

/** A follower, where it is found, and what it is about to be told. */
interface Member {
  readonly follower: Follower;
  readonly places: Place[];
  told: number[];
}

export class Routes {
  /** Those that anything can touch have no places. */
  readonly #members = new Map<Follower, Member>();
  readonly #ofAll = new Set<Follower>();
  readonly #groups = new Map<string, Group>();
  /** Most items are held once: a set of one would cost more than the rest. */
  readonly #holders = new Map<number, Member | Set<Member>>();

  get size(): number {
    return this.#members.size;
  }

  followers(): Follower[] {
    return [...this.#members.keys()];
  }

  /** Takes one; the result lets it go. */
  add(follower: Follower): () => void {
    const member: Member = { follower, places: [], told: [] };
    this.#members.set(follower, member);
    const { interest } = follower;
    if (interest === undefined) this.#ofAll.add(follower);
    for (const route of interest?.routes ?? []) {
      for (const key of route.keys) this.#place(member, route, key);
    }
    interest?.held?.watch(
      (ordinal) => this.#hold(ordinal, member),
      (ordinal) => this.#release(ordinal, member),
    );
    return () => this.#remove(member);
  }

  #place(member: Member, route: Route, key: string): void {
    const { fields, spanned } = route;
    const name = JSON.stringify([fields, spanned]);
    const group = this.#groups.get(name) ??
      { name, fields, spanned, byKey: new Map() };
    this.#groups.set(name, group);
    const spans = group.byKey.get(key) ?? new Spans();
    group.byKey.set(key, spans);
    const span = spans.add(spanNow(member, route), member);
    member.places.push({ route, group, key, span });
  }

  #remove({ follower, places }: Member): void {
    if (!this.#members.delete(follower)) return;
    this.#ofAll.delete(follower);
    for (const { group, key, span } of places) {
      const spans = group.byKey.get(key)!;
      spans.delete(span);
      if (spans.isEmpty) group.byKey.delete(key);
      if (group.byKey.size === 0) this.#groups.delete(group.name);
    }
    follower.interest?.held?.unwatch();
  }

  #hold(ordinal: number, member: Member): void {
    const holder = this.#holders.get(ordinal);
    if (holder instanceof Set) holder.add(member);
    else if (holder === undefined) this.#holders.set(ordinal, member);
    else if (holder !== member) {
      this.#holders.set(ordinal, new Set([holder, member]));
    }
  }

  #release(ordinal: number, member: Member): void {
    const holder = this.#holders.get(ordinal);
    if (holder instanceof Set) {
      holder.delete(member);
      if (holder.size === 0) this.#holders.delete(ordinal);
    } else if (holder === member) this.#holders.delete(ordinal);
  }

  /** Calls with each follower that these ordinals may touch, and with those that do. */
  tell(
    ordinals: readonly number[],
    source: Source,
    tell: (follower: Follower, ordinals: readonly number[]) => void,
  ): void {
    const touched = this.#groups.size > 0
      ? this.#touched(ordinals, source)
      : [];
    for (const follower of this.#ofAll) tell(follower, ordinals);
    for (const member of touched) {
      const { follower, told } = member;
      member.told = [];
      if (!this.#members.has(follower)) continue;
      tell(follower, told);
      this.#move(member);
    }
  }

  /** A window that has other rows now may reach less far, or farther. */
  #move(member: Member): void {
    const [place] = member.places;
    if (place?.route.isCut !== true || !this.#members.has(member.follower)) {
      return;
    }
    const { low, high } = spanNow(member, place.route);
    if (low === place.span.low && high === place.span.high) return;
    const spans = place.group.byKey.get(place.key)!;
    spans.delete(place.span);
    place.span = spans.add({ low, high }, member);
  }

  #touched(ordinals: readonly number[], source: Source): Member[] {
    const touched: Member[] = [];
    for (const ordinal of ordinals) {
      const note = (member: Member) => {
        const { told } = member;
        if (told.length === 0) touched.push(member);
        if (told.at(-1) !== ordinal) told.push(ordinal);
      };
      const holder = this.#holders.get(ordinal);
      if (holder instanceof Set) holder.forEach(note);
      else if (holder !== undefined) note(holder);
      const item = source.itemAt(ordinal);
      for (const group of this.#groups.values()) {
        visit(group, source, ordinal, item, note);
      }
    }
    return touched;
  }

  clear(): void {
    this.#members.clear();
    this.#ofAll.clear();
    this.#groups.clear();
    this.#holders.clear();
  }
}

function spanNow({ follower }: Member, { span, isCut }: Route): Span {
  return isCut ? intersection(span, follower.interest!.cut!.reach()) : span;
}

/** Visits those who ask for what an item is now. */
function visit(
  { fields, spanned, byKey }: Group,
  source: Source,
  ordinal: number,
  item: Item | undefined,
  note: (member: Member) => void,
): void {
  // Who has what is gone holds it; others can only have asked for its id.
  if (item === undefined && spanned !== undefined) return;
  const keys: Key[] = [];
  let elements: string[] | undefined;
  for (const field of fields) {
    if (hasElements(field[1])) {
      elements = elementKeys(item?.[field[0]]);
      continue;
    }
    const key = keyAt(source, ordinal, item, field);
    if (key === null) return;
    keys.push(key);
  }
  const at = spanned && keyAt(source, ordinal, item, spanned);
  if (elements === undefined) byKey.get(jointKey(keys))?.visit(at, note);
  for (const element of elements ?? []) {
    byKey.get(jointKey([...keys, element]))?.visit(at, note);
  }
}

/** The key that an item has now, `null` when its value is odd or gone; ids stay. */
function keyAt(
  source: Source,
  ordinal: number,
  item: Item | undefined,
  [field, kind]: NamedField,
): Key | null {
  if (field === "id") return source.idAt(ordinal);
  return item === undefined ? null : keyOf(kind, item[field]);
}
