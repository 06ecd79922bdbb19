/**
 * Sets: an add wins over a remove that has not seen it. Each add carries its
 * commit's stamp as a tag, and a remove names the tags that it has seen. A commit
 * that removes what it added itself takes its tag back, so that it may add the
 * value again.
 */

import { getOrMake } from "../base/collections.ts";
import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import { compareStamps, hlcZero, type Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import { OrderedMap } from "./ordered_map.ts";
import type { Change, TaggedValue, Value } from "./patch.ts";
import {
  explicitParts,
  PartsState,
  type ReadStamp,
  type RichKind,
  type WriteStamp,
} from "./rich_kind.ts";
import {
  checkCount,
  parseIterable,
  parseValue,
  type SchemaField,
  sortedSet,
} from "./validate.ts";
import {
  compareScalars,
  malformed,
  readAny,
  readCount,
  writeAny,
} from "./value_codec.ts";

/** One add of a value to a set: the stamp of its commit. */
interface Tag {
  readonly value: Value;
  readonly stamp: Stamp;
}

type Tags = OrderedMap<Tag, true>;

/** Tags by value, then by stamp. */
function compareTags(a: Tag, b: Tag): number {
  return compareScalars(a.value, b.value) || compareStamps(a.stamp, b.stamp);
}

export class SetState extends PartsState {
  readonly merge = "set";
  /** Adds that no remove has seen: a value is there while one is left. */
  readonly tags: Tags;
  /** Adds that a remove has seen, in case they arrive after it. */
  readonly gone: Tags;

  constructor(tags: Tags, gone: Tags) {
    super();
    this.tags = tags;
    this.gone = gone;
  }

  get size(): number {
    return this.tags.size;
  }

  protected build(): Value {
    const values = Array.from(this.tags.keys(), ({ value }) => value);
    return sortedSet(values.filter((value) => value !== undefined));
  }
}

const noTags = /* @__PURE__ */ OrderedMap.of<Tag, true>(compareTags);

const empty = /* @__PURE__ */ new SetState(noTags, noTags);
const nothing: readonly Value[] = [];

export const set: RichKind<SetState> = {
  empty,
  begin: (value, stamp) => added(empty, listOf(value), stamp),
  create: (state, value, stamp) => added(state, listOf(value), stamp),
  change(state, change, stamp) {
    if (change.what === "add") return added(state, change.values, stamp);
    if (change.what !== "remove") return state;
    return removed(state, change.values, stamp);
  },
  write,
  read,
  prepare,
};

function listOf(value: Value): readonly Value[] {
  return Array.isArray(value) ? value : nothing;
}

function added(
  { tags, gone }: SetState,
  values: readonly Value[],
  stamp: Stamp,
): SetState {
  const fresh = values.map((value) => [{ value, stamp }, true] as const);
  const isNew = ([tag]: readonly [Tag, true]) => !gone.has(tag);
  return new SetState(
    tags.withAll(gone.size > 0 ? fresh.filter(isNew) : fresh),
    gone,
  );
}

/** The set after a commit removed the adds it had seen. */
function removed(
  { tags, gone }: SetState,
  values: readonly TaggedValue[],
  own: Stamp,
): SetState {
  const seen = values.flatMap(({ value, tags }) =>
    tags.map((stamp) => ({ value, stamp }))
  );
  const isOwn = ({ stamp }: Tag) => compareStamps(stamp, own) === 0;
  return new SetState(
    tags.withAll(seen.map((tag) => [tag, undefined])),
    gone.withAll(seen.filter((tag) => !isOwn(tag)).map((tag) => [tag, true])),
  );
}

/** The adds of a value that no remove has seen. */
export function tagsOf({ tags }: SetState, value: Value): Stamp[] {
  const stamps: Stamp[] = [];
  const first = { value, stamp: { ...hlcZero, chain: "" } };
  for (const [tag] of tags.entries(first)) {
    if (tag.value !== value) break;
    stamps.push(tag.stamp);
  }
  return stamps;
}

function write(w: ByteWriter, state: SetState, stamp: WriteStamp) {
  const entries = new Map<Value, { tags: Stamp[]; gone: Stamp[] }>();
  for (const part of ["tags", "gone"] as const) {
    for (const { value, stamp } of state[part].keys()) {
      const entry = getOrMake(entries, value, () => ({ tags: [], gone: [] }));
      entry[part].push(stamp);
    }
  }
  w.varint(entries.size);
  const values = [...entries.keys()].sort(compareScalars);
  for (const value of values) {
    const { tags, gone } = entries.get(value)!;
    writeAny(w, value);
    writeStamps(w, tags, stamp);
    writeStamps(w, gone, stamp);
  }
}

function writeStamps(
  w: ByteWriter,
  stamps: readonly Stamp[],
  stamp: WriteStamp,
): void {
  w.varint(stamps.length);
  for (const one of stamps) stamp(w, one);
}

function read(r: ByteReader, stamp: ReadStamp): SetState {
  const tags: [Tag, true][] = [];
  const gone: [Tag, true][] = [];
  for (let left = readCount(r, Infinity, 3); left > 0; left--) {
    const value = readAny(r);
    if (typeof value === "object") malformed("a set holds what is no scalar");
    for (const part of [tags, gone]) {
      for (let count = readCount(r, Infinity, 1); count > 0; count--) {
        part.push([{ value, stamp: stamp(r) }, true]);
      }
    }
  }
  const of = (part: [Tag, true][]) => OrderedMap.of(compareTags, part);
  return new SetState(of(tags), of(gone));
}

function prepare(
  field: SchemaField,
  state: SetState,
  given: unknown,
): readonly Change[] {
  const wanted = wantedValues(field, state, given);
  const isThere = (value: Value) => tagsOf(state, value).length > 0;
  const changed = [...wanted].filter(([value, is]) => is !== isThere(value));
  const added = changed.flatMap(([value, is]) => is ? [value] : []);
  const removed = changed.flatMap(([value, is]) => is ? [] : [value]);
  if (field.isBounded || state.size + added.length > limits.elementsMax) {
    const all = new Set<Value>(listOf(state.show()));
    for (const value of removed) all.delete(value);
    for (const value of added) all.add(value);
    checkCount(field, all.size);
    parseValue(field, all);
  }
  const changes: Change[] = [];
  if (removed.length > 0) changes.push(removal(state, removed));
  if (added.length > 0) {
    changes.push({ what: "add", values: sortedSet(added) });
  }
  return changes;
}

/** Of each value that is spoken of: is it to be there? */
function wantedValues(
  field: SchemaField,
  state: SetState,
  given: unknown,
): ReadonlyMap<Value, boolean> {
  const parts = explicitParts(field, given, ["add", "remove"]);
  const { add, remove } = parts === undefined
    ? { add: parseIterable(field, given), remove: listOf(state.show()) }
    : {
      add: parseIterable(field, parts.add ?? nothing),
      remove: parseIterable(field, parts.remove ?? nothing),
    };
  const wanted = new Map<Value, boolean>();
  for (const value of remove) wanted.set(value, false);
  for (const value of add) wanted.set(value, true);
  if (parts === undefined) checkCount(field, add.length);
  return wanted;
}

/** A remove names the adds that it has seen; later ones win over it. */
function removal(state: SetState, values: readonly Value[]): Change {
  return {
    what: "remove",
    values: values.map((value) => ({
      value,
      tags: tagsOf(state, value).map(({ wall, count, chain }) => ({
        wall,
        count,
        chain,
      })),
    })),
  };
}
