/**
 * Lists: elements with ids, ordered by (position, id). An insert never clobbers, a
 * move never duplicates: the last writer wins on an element's position and on its
 * value, each by itself; a delete wins over both. Parts of an element may arrive in
 * any order.
 */

import { type ByteReader, type ByteWriter, toHex } from "../base/bytes.ts";
import { compareStamps, type Stamp } from "../base/hlc.ts";
import { compareText, OrderedMap } from "./ordered_map.ts";
import type { Element, Value } from "./patch.ts";
import { positionAt } from "./position.ts";
import { listChanges } from "./prepare_list.ts";
import {
  PartsState,
  type ReadStamp,
  type RichKind,
  type WriteStamp,
} from "./rich_kind.ts";
import { readAny, readCount, writeAny } from "./value_codec.ts";

const INSERTED = 1;
const DELETED = 2;
const VALUED = 4;
const PLACED = 8;

/** One element of a list; parts that have not arrived have no stamp. */
interface ListElement {
  readonly isInserted: boolean;
  readonly value: Value;
  readonly valueStamp: Stamp | undefined;
  readonly position: string;
  readonly positionStamp: Stamp | undefined;
}

export class ListState extends PartsState {
  readonly merge = "list";
  readonly elements: OrderedMap<string, ListElement>;
  /** Elements that nothing brings back. */
  readonly deleted: OrderedMap<string, true>;
  #visible: readonly Element[] | undefined;

  constructor(
    elements: OrderedMap<string, ListElement>,
    deleted: OrderedMap<string, true>,
  ) {
    super();
    this.elements = elements;
    this.deleted = deleted;
  }

  get size(): number {
    return this.elements.size;
  }

  get visible(): readonly Element[] {
    return this.#visible ??= this.#order();
  }

  #order(): Element[] {
    const visible: Element[] = [];
    for (const [element, one] of this.elements.entries()) {
      const { isInserted, value, position } = one;
      if (!isInserted || value === undefined) continue; // Or it was erased.
      visible.push({ element, position, value });
    }
    // By id already, and a sort keeps that where positions are the same.
    return visible.sort((a, b) => compareText(a.position, b.position));
  }

  protected build(): Value {
    return Object.freeze(this.visible.map(({ value }) => value));
  }
}

const unknown: ListElement = {
  isInserted: false,
  value: undefined,
  valueStamp: undefined,
  position: "",
  positionStamp: undefined,
};
const noneDeleted = /* @__PURE__ */ OrderedMap.of<string, true>(compareText);

const empty = /* @__PURE__ */ new ListState(
  /* @__PURE__ */ OrderedMap.of<string, ListElement>(compareText),
  noneDeleted,
);

export const list: RichKind<ListState> = {
  empty,
  begin(value, stamp) {
    const elements = elementsOfCreate(value, stamp).map((one) =>
      [one.element, inserted(unknown, one, stamp)] as const
    );
    return new ListState(OrderedMap.of(compareText, elements), noneDeleted);
  },
  create: (state, value, stamp) =>
    changed(
      state,
      elementsOfCreate(value, stamp),
      elementOf,
      (old, one) => inserted(old, one, stamp),
    ),
  change(state, change, stamp) {
    switch (change.what) {
      case "insert":
        return changed(
          state,
          change.elements,
          elementOf,
          (old, one) => inserted(old, one, stamp),
        );
      case "move":
        return changed(
          state,
          change.moves,
          elementOf,
          (old, { position }) => placed(old, position, stamp),
        );
      case "replace":
        return changed(
          state,
          change.values,
          ([element]) => element,
          (old, [, value]) => valued(old, value, stamp),
        );
      case "delete":
        return without(state, change.elements);
      default:
        return state;
    }
  },
  write,
  read,
  prepare: (field, { visible }, given, ids) =>
    listChanges(field, visible, given, ids),
};

/**
 * The elements of a list that a create wrote whole. Their ids and positions
 * follow from the create's stamp, so that the log need not hold them.
 */
function elementsOfCreate(value: Value, stamp: Stamp): Element[] {
  if (!Array.isArray(value)) return [];
  const commit = nameOf(stamp);
  return value.map((inner: Value, i) => ({
    element: `${commit}.${i}`,
    position: positionAt(i),
    value: inner,
  }));
}

/** A commit's name: enough of its chain (64 bits of the key, and the incarnation) to tell it apart. */
export function nameOf({ wall, count, chain }: Stamp): string {
  const part = chain.slice(0, 8) + chain.slice(32);
  const bytes = Uint8Array.from(part, (character) => character.charCodeAt(0));
  return `${wall}.${count}.${toHex(bytes)}`;
}

function wins(stamp: Stamp, other: Stamp | undefined): boolean {
  return other === undefined || compareStamps(stamp, other) >= 0;
}

function placed(old: ListElement, position: string, stamp: Stamp): ListElement {
  if (!wins(stamp, old.positionStamp)) return old;
  return { ...old, position, positionStamp: stamp };
}

function valued(old: ListElement, value: Value, stamp: Stamp): ListElement {
  if (!wins(stamp, old.valueStamp)) return old;
  return { ...old, value, valueStamp: stamp };
}

function inserted(
  old: ListElement,
  { position, value }: Element,
  stamp: Stamp,
): ListElement {
  const next = valued(placed(old, position, stamp), value, stamp);
  return { ...next, isInserted: true };
}

/** The list with what a commit did to these elements, as far as they are not deleted. */
function changed<T>(
  { elements, deleted }: ListState,
  parts: Iterable<T>,
  idOf: (part: T) => string,
  change: (old: ListElement, part: T) => ListElement,
): ListState {
  const after = new Map<string, ListElement>();
  for (const part of parts) {
    const id = idOf(part);
    if (deleted.has(id)) continue;
    after.set(id, change(after.get(id) ?? elements.get(id) ?? unknown, part));
  }
  return new ListState(elements.withAll([...after]), deleted);
}

const elementOf = ({ element }: { readonly element: string }) => element;

function without(
  { elements, deleted }: ListState,
  removed: readonly string[],
): ListState {
  return new ListState(
    elements.withAll(removed.map((id) => [id, undefined])),
    deleted.withAll(removed.map((id) => [id, true])),
  );
}

function write(
  w: ByteWriter,
  { elements, deleted }: ListState,
  stamp: WriteStamp,
) {
  w.varint(elements.size + deleted.size);
  for (const id of [...elements.keys(), ...deleted.keys()].sort()) {
    const element = elements.get(id);
    w.text(id);
    if (element === undefined) w.u8(DELETED);
    else writeElement(w, element, stamp);
  }
}

function writeElement(w: ByteWriter, element: ListElement, stamp: WriteStamp) {
  const { value, valueStamp, position, positionStamp } = element;
  w.u8(
    (element.isInserted ? INSERTED : 0) | (valueStamp ? VALUED : 0) |
      (positionStamp ? PLACED : 0),
  );
  if (valueStamp !== undefined) {
    stamp(w, valueStamp);
    writeAny(w, value);
  }
  if (positionStamp !== undefined) {
    stamp(w, positionStamp);
    w.text(position);
  }
}

function read(r: ByteReader, stamp: ReadStamp): ListState {
  const elements: [string, ListElement][] = [];
  const deleted: [string, true][] = [];
  for (let left = readCount(r, Infinity, 2); left > 0; left--) {
    const id = r.text();
    const flags = r.u8();
    if (flags & DELETED) deleted.push([id, true]);
    else elements.push([id, readElement(r, stamp, flags)]);
  }
  return new ListState(
    OrderedMap.of(compareText, elements),
    OrderedMap.of(compareText, deleted),
  );
}

function readElement(
  r: ByteReader,
  stamp: ReadStamp,
  flags: number,
): ListElement {
  const valueStamp = flags & VALUED ? stamp(r) : undefined;
  const value = valueStamp === undefined ? undefined : readAny(r);
  const positionStamp = flags & PLACED ? stamp(r) : undefined;
  const position = positionStamp === undefined ? "" : r.text();
  const isInserted = (flags & INSERTED) !== 0;
  return { isInserted, value, valueStamp, position, positionStamp };
}
