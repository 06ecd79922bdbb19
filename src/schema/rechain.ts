/**
 * Patches that are written again under another stamp: what they say of other
 * commits that were written again has to name these as they are now.
 *
 * Two things in a patch name a commit: the tags of a set's remove (the adds
 * that its author had seen), and the ids of list elements that a create wrote
 * whole, in every change of a list. Registers, counters and maps, and all
 * creates, name none: their stamp is that of the commit that they came in. A
 * text names units, which follow each other: those behind lost ones are renamed.
 *
 * Architecture invariant: everything else stays as it was.
 */

import { fromHex } from "../base/bytes.ts";
import type { Hlc, Stamp } from "../base/hlc.ts";
import type { LostUnits } from "./lost_units.ts";
import { lateRich } from "./late_rich.ts";
import type { Change, Operation } from "./patch.ts";

/** By which stamp a commit is known now; the same object where it did not move. */
export type StampOf = (stamp: Stamp) => Stamp;

/** What moved: which chains lost commits, and where each of these is now. */
export interface Renaming {
  readonly stampOf: StampOf;
  /** Chains that commits moved away from. */
  readonly chains: readonly string[];
  /** Units of texts that commits brought which are not written again. */
  readonly lost?: LostUnits | undefined;
}

const ELEMENT = /^(\d{1,15})\.(\d{1,5})\.([0-9a-f]{32})\.(\d{1,5})$/;

/** The operation with the names of commits that moved; the same one where it names none. */
export function rechainOperation(
  operation: Operation,
  renaming: Renaming,
): Operation {
  if (operation.what !== "update") return operation;
  const changes = mapped(operation.changes, (one) => {
    const change = rechainChange(one.change, renaming);
    return change === one.change ? one : { field: one.field, change };
  });
  return changes === operation.changes ? operation : { ...operation, changes };
}

function rechainChange(change: Change, renaming: Renaming): Change {
  const renamed = renameIn(change, renaming);
  // Other names have another order.
  return renamed === change ? change : lateRich.code.joinParts(renamed);
}

function renameIn(change: Change, renaming: Renaming): Change {
  const name = (element: string) => rechainElement(element, renaming);
  switch (change.what) {
    case "remove": {
      const values = mapped(change.values, (one) => {
        const tags = mapped(one.tags, renaming.stampOf);
        return tags === one.tags ? one : { value: one.value, tags };
      });
      return values === change.values ? change : { what: "remove", values };
    }
    case "insert": {
      const elements = mapped(change.elements, (one) => renamed(one, name));
      return elements === change.elements ? change : { ...change, elements };
    }
    case "move": {
      const moves = mapped(change.moves, (one) => renamed(one, name));
      return moves === change.moves ? change : { ...change, moves };
    }
    case "delete": {
      const elements = mapped(change.elements, name);
      return elements === change.elements ? change : { ...change, elements };
    }
    case "replace": {
      const values = mapped(change.values, (one) => {
        const element = name(one[0]);
        return element === one[0] ? one : [element, one[1]] as const;
      });
      return values === change.values ? change : { ...change, values };
    }
    case "edit": {
      const text = renaming.lost?.rename(change.text) ?? change.text;
      return text === change.text ? change : { what: "edit", text };
    }
    default:
      return change;
  }
}

function renamed<T extends { readonly element: string }>(
  one: T,
  name: (element: string) => string,
): T {
  const element = name(one.element);
  return element === one.element ? one : { ...one, element };
}

/** A commit as the names of elements have it that its create wrote. */
export interface CreatedName extends Hlc {
  /** 8 characters of its session's key and its incarnation, a byte each. */
  readonly part: string;
  readonly index: string;
}

/** Which commit's create an element is named after; `undefined` for any other name. */
export function parseCreatedName(element: string): CreatedName | undefined {
  const match = ELEMENT.exec(element);
  if (match === null) return undefined;
  const [, wall, count, hex, index] = match;
  const part = String.fromCharCode(...fromHex(hex!));
  return { wall: Number(wall), count: Number(count), part, index: index! };
}

/** As much of a chain as an element's name has of it. */
export function partOf(chain: string): string {
  return chain.slice(0, 8) + chain.slice(32);
}

function rechainElement(element: string, renaming: Renaming): string {
  const named = parseCreatedName(element);
  if (named === undefined) return element;
  const chain = renaming.chains.find((chain) => partOf(chain) === named.part);
  if (chain === undefined) return element;
  const stamp = { wall: named.wall, count: named.count, chain };
  const now = renaming.stampOf(stamp);
  if (now === stamp) return element;
  return `${lateRich.code.nameOf(now)}.${named.index}`;
}

/** The same array where nothing changes. */
function mapped<T>(list: readonly T[], map: (one: T) => T): readonly T[] {
  let changed: T[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const one = map(list[i]!);
    if (one === list[i]) continue;
    changed ??= list.slice();
    changed[i] = one;
  }
  return changed ?? list;
}
