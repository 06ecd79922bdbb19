/**
 * The constraints of one repository: asked at the end of each commit, of the
 * items as they are folded then. Own transactions are asked before they are
 * made, what comes to a server at its gate, whoever wrote it.
 *
 * A write may not add to what is wrong: what was there before a constraint was
 * declared is listed, stands in nobody's way, and may be mended.
 *
 * Loaded only where a schema has constraints; its indexes are built when the
 * first write asks for them.
 */

// As in src/db/online.ts.
import "../mod.ts";
import { DatabaseError } from "../../src/base/errors.ts";
import { limits } from "../../src/base/limits.ts";
import type { Shown } from "../../src/schema/cell.ts";
import {
  type CollectionConstraints,
  constraintsOf,
  excessOf,
  namedIn,
  statementsOf,
  tupleKey,
  valueIn,
} from "../../src/schema/constraint.ts";
import { show } from "../../src/schema/names.ts";
import type { Value } from "../../src/schema/patch.ts";
import type { DecodedPatch } from "../../src/schema/patch_codec.ts";
import type { Schema } from "../../src/schema/schema.ts";
import { KeyIndex, shorten } from "../state/key_index.ts";
import type { State } from "../state/state.ts";
import type { Table } from "../state/table.ts";
import { getOrMake } from "../../src/base/collections.ts";

/** What a commit does to one item, as a whole. */
export interface WrittenItem {
  readonly collection: string;
  readonly id: string;
  readonly before: Shown | undefined;
  readonly after: Shown | undefined;
}

/** What a constraint says of an item. */
export interface Violation {
  /** The constraint: `user.unique(email)`, `post.author.exists()`, `seat.free.min(0)`. */
  readonly constraint: string;
  /** The item's id. */
  readonly id: string;
  /** What is wrong, for a person: `"u7" has the same email`. */
  readonly detail: string;
}

/** A collection with constraints, and the indexes that they need. */
class Constrained {
  readonly constraints: CollectionConstraints;
  /** One for each unique constraint, and one for each reference, by the ids that it names. */
  readonly uniques: readonly KeyIndex[];
  readonly references: readonly KeyIndex[];
  #table: Table | undefined;

  constructor(constraints: CollectionConstraints) {
    this.constraints = constraints;
    const { schema, uniques, references } = constraints;
    this.uniques = uniques.map(({ fields }) =>
      new KeyIndex({
        valuesOf: (cell) => fields.map((field) => valueIn(schema, cell, field)),
        keysOf: (values) => {
          const key = tupleKey(values);
          return key === undefined ? [] : [shorten(key)];
        },
      })
    );
    this.references = references.map(({ field }) =>
      new KeyIndex({
        valuesOf: (cell) => [valueIn(schema, cell, field)],
        keysOf: ([value]) => keysIn(value),
      })
    );
  }

  get name(): string {
    return this.constraints.schema.name;
  }

  get table(): Table | undefined {
    return this.#table;
  }

  /** Follows the table of the collection from now on; true the first time. */
  follow(table: Table | undefined): boolean {
    if (table === undefined || this.#table !== undefined) return false;
    for (const index of [...this.uniques, ...this.references]) {
      index.follow(table);
    }
    this.#table = table;
    return true;
  }
}

/** What lists of references name, by list: one that did not change is looked at once. */
const named = /* @__PURE__ */ new WeakMap<object, readonly string[]>();

function keysIn(value: Value): readonly string[] {
  const isList = typeof value === "object" && value !== null;
  const known = isList ? named.get(value) : undefined;
  if (known !== undefined) return known;
  const keys = namedIn(value).filter(isId).map(shorten);
  if (isList) named.set(value, keys);
  return keys;
}

function isId(value: Value): value is string {
  return typeof value === "string";
}

export class Constraints {
  readonly state: State;
  /** Hears what is wrong in a collection when it is first asked about; nobody is told where nothing is. */
  reporting:
    | ((collection: string, found: readonly Violation[]) => void)
    | undefined;
  readonly #collections = new Map<string, Constrained>();
  /** By collection, whose references name its items. */
  readonly #referring = new Map<string, Set<Constrained>>();

  /** @param schemas the first one of a collection is the one that counts */
  constructor(schemas: readonly Schema[], state: State) {
    this.state = state;
    const known = new Set<string>();
    for (const schema of schemas) {
      if (known.has(schema.name)) continue;
      known.add(schema.name);
      if (schema.isConstrained) {
        this.#add(new Constrained(constraintsOf(schema)));
      }
    }
  }

  #add(constrained: Constrained): void {
    this.#collections.set(constrained.name, constrained);
    for (const { target } of constrained.constraints.references) {
      getOrMake(this.#referring, target, () => new Set()).add(constrained);
    }
  }

  get statements(): string[] {
    return [...this.#collections.values()]
      .flatMap(({ constraints }) => statementsOf(constraints));
  }

  asksOf(collection: string): boolean {
    return this.#collections.has(collection) || this.#referring.has(collection);
  }

  concerns(patches: readonly DecodedPatch[]): boolean {
    return patches.some(({ operations }) =>
      operations.some(({ shape }) => this.asksOf(shape.collection))
    );
  }

  /** The constraints of a collection, with indexes. */
  of(collection: string): Constrained | undefined {
    const constrained = this.#collections.get(collection);
    return constrained && this.#followed(constrained);
  }

  referring(collection: string): Constrained[] {
    const referring = this.#referring.get(collection) ?? [];
    return Array.from(referring, (one) => this.#followed(one));
  }

  #followed(constrained: Constrained): Constrained {
    const { name } = constrained;
    if (constrained.follow(this.state.find(name)) && this.reporting) {
      const found = this.violations(name);
      if (found.length > 0) this.reporting(name, found);
    }
    return constrained;
  }

  /** Fails with `constraint` where an own transaction may not be. */
  check(written: readonly WrittenItem[]): void {
    const fault = new Draft(this).take(written);
    if (fault === undefined) return;
    const { constraint, id, detail, collection, what } = fault;
    throw new DatabaseError(
      "constraint",
      `Cannot ${what} "${collection}" item ${
        show(id)
      }: ${detail} (${constraint})`,
    );
  }

  /** What is wrong in a collection as it is now; no more than `limits.violationsMax`. */
  violations(collection: string): Violation[] {
    const found: Violation[] = [];
    const table = this.of(collection)?.table;
    if (table === undefined) return found;
    const draft = new Draft(this);
    for (let ordinal = 0; ordinal < table.size; ordinal++) {
      const item = table.isLive(ordinal) ? table.itemAt(ordinal) : undefined;
      if (item === undefined) continue;
      const { id } = item;
      for (
        const { constraint, detail } of draft.faultsOf({
          ...{ collection, id, after: { item } },
          before: undefined,
        })
      ) {
        found.push({ constraint, id, detail });
        if (found.length >= limits.violationsMax) return found;
      }
    }
    return found;
  }
}

interface Fault extends Violation {
  readonly collection: string;
  readonly what: "create" | "update" | "delete";
}

/** What is here, and what commits that are not part of it would make of it. */
export class Draft {
  readonly #constraints: Constraints;
  /** By collection and id. */
  readonly #items = new Map<string, Map<string, Shown | undefined>>();
  /** How many more items have a key than the index says. */
  readonly #more = new Map<KeyIndex, Map<string, number>>();

  constructor(constraints: Constraints) {
    this.#constraints = constraints;
  }

  /** Takes all that one more commit does; the first fault of it, if any. */
  take(written: readonly WrittenItem[]): Fault | undefined {
    for (const one of written) this.#add(one);
    for (const one of written) {
      if (one.before === one.after) continue;
      for (const fault of this.faultsOf(one)) return fault;
    }
    return undefined;
  }

  #add({ collection, id, before, after }: WrittenItem): void {
    getOrMake(this.#items, collection, () => new Map()).set(id, after);
    const constrained = this.#constraints.of(collection);
    if (constrained === undefined || before === after) return;
    for (const index of [...constrained.uniques, ...constrained.references]) {
      for (const [key, more] of index.changes(before, after)) {
        this.#count(index, key, more);
      }
    }
  }

  #count(index: KeyIndex, key: string, more: number): void {
    const counts = getOrMake(this.#more, index, () => new Map());
    counts.set(key, (counts.get(key) ?? 0) + more);
  }

  #countOf(index: KeyIndex, key: string): number {
    return index.count(key) + (this.#more.get(index)?.get(key) ?? 0);
  }

  /** What a write adds to what is wrong, with everything else as it is now. */
  *faultsOf(written: WrittenItem): Generator<Fault> {
    const { collection, id, before, after } = written;
    const what = after === undefined
      ? "delete"
      : before === undefined
      ? "create"
      : "update";
    const say = (constraint: string, detail: string) => ({
      ...{ constraint, id, detail, collection, what } as const,
    });
    if (after === undefined) {
      if (before === undefined) return;
      for (const [name, by] of this.#namedBy(collection, id)) {
        yield say(name, `${show(by)} names it`);
      }
      return;
    }
    const constrained = this.#constraints.of(collection);
    if (constrained === undefined) return;
    const now = { ...written, after };
    for (const [name, detail] of this.#repeated(constrained, now)) {
      yield say(name, detail);
    }
    for (const [name, detail] of this.#dangling(constrained, now)) {
      yield say(name, detail);
    }
    for (const [name, detail] of outOfBounds(constrained, now)) {
      yield say(name, detail);
    }
  }

  /** Who names an item that is gone. */
  *#namedBy(collection: string, id: string): Generator<[string, string]> {
    const key = shorten(id);
    for (const referring of this.#constraints.referring(collection)) {
      const { references } = referring.constraints;
      for (const [i, { name, target }] of references.entries()) {
        const index = referring.references[i]!;
        if (target !== collection || this.#countOf(index, key) === 0) continue;
        yield [name, this.#holder(referring, index, key)];
      }
    }
  }

  /** Values that another item has. */
  *#repeated(
    constrained: Constrained,
    { id, before, after }: WrittenItem & { readonly after: Shown },
  ): Generator<[string, string]> {
    const { schema } = constrained.constraints;
    for (const [i, index] of constrained.uniques.entries()) {
      const added = index.changes(before, after).find(([, more]) => more > 0);
      if (added === undefined) continue;
      const [key] = added;
      const { name, fields } = constrained.constraints.uniques[i]!;
      const values = fields.map((field) => valueIn(schema, after, field));
      const chars = tupleKey(values)!.length;
      if (chars > limits.uniqueCharsMax) {
        yield [name, `${fields.join(", ")} is too long to be unique`];
      }
      if (this.#countOf(index, key) <= 1) continue;
      const other = show(this.#holder(constrained, index, key, id));
      yield [name, `${other} has the same ${fields.join(", ")}`];
    }
  }

  *#dangling(
    { constraints: { schema, references } }: Constrained,
    { before, after }: WrittenItem & { readonly after: Shown },
  ): Generator<[string, string]> {
    for (const { name, field, target } of references) {
      const [old, now] = [before, after].map((cell) =>
        cell && valueIn(schema, cell, field)
      );
      if (old === now) continue;
      const known = new Set(namedIn(old));
      const all = namedIn(now);
      if (all.length > limits.namedMax && all.length > known.size) {
        yield [name, `${field} names over ${limits.namedMax} items`];
      }
      for (const named of all) {
        if (known.has(named) || this.#isThere(target, named)) continue;
        yield [name, `there is no "${target}" item ${show(named)}`];
      }
    }
  }

  #isThere(collection: string, id: Value): boolean {
    if (!isId(id)) return false;
    const items = this.#items.get(collection);
    if (items?.has(id)) return items.get(id) !== undefined;
    const table = this.#constraints.state.find(collection);
    const ordinal = table?.ordinalOf(id) ?? -1;
    return ordinal >= 0 && table!.isLive(ordinal);
  }

  #holder(
    { name, table }: Constrained,
    index: KeyIndex,
    key: string,
    id?: string,
  ): string {
    const items = this.#items.get(name);
    for (const [other, item] of items ?? []) {
      if (other !== id && index.keysOf(item).includes(key)) return other;
    }
    for (const ordinal of index.holders(key)) {
      const other = table!.idAt(ordinal);
      if (other !== id && !items?.has(other)) return other;
    }
    return "";
  }
}

/** Sums that are further out of bounds than they were. */
function* outOfBounds(
  { constraints: { schema, bounds } }: Constrained,
  { before, after }: WrittenItem & { readonly after: Shown },
): Generator<[string, string]> {
  for (const bound of bounds) {
    const { name, field, min, max } = bound;
    const sum = valueIn(schema, after, field);
    const known = before && excessOf(bound, valueIn(schema, before, field));
    if (excessOf(bound, sum) <= (known ?? 0)) continue;
    const isHigh = typeof sum === "number" && sum > max;
    const limit = isHigh ? `max(${max})` : `min(${min})`;
    yield [`${name}.${limit}`, `${field} would be ${show(sum)}`];
  }
}
