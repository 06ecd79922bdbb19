/**
 * What marks speak of, renamed: after an undo the state before a mark is known
 * by the undo's own commit, a list's element that came back by another id, and
 * an item that came back by its next generation.
 *
 * Architecture invariant: a mark stands exactly while the field or element that
 * it speaks of is known by the mark's stamp.
 *
 * @module
 */

import { compareStamps, type Stamp } from "../base/hlc.ts";
import type { Value } from "../schema/patch.ts";
import {
  type Deleted,
  type Dropped,
  type FieldMark,
  itemKey,
  type Mark,
  type Owner,
  slotOf,
} from "./undo_marks.ts";

/** The marks of all steps by their items, while one step is undone. */
export class MarkNames {
  readonly #items = new Map<string, Mark[]>();
  /** What marks were before they were renamed, to go back. */
  readonly #saved = new Map<Mark, Mark>();

  constructor(marks: Iterable<Mark>) {
    for (const mark of marks) {
      const key = itemKey(mark);
      const known = this.#items.get(key);
      if (known === undefined) this.#items.set(key, [mark]);
      else known.push(mark);
    }
  }

  /** Nothing came of it: marks are as they were. */
  restore(): void {
    for (const [mark, saved] of this.#saved) Object.assign(mark, saved);
  }

  *#of(mark: Mark): Generator<Mark> {
    for (const other of this.#items.get(itemKey(mark)) ?? []) {
      if (other.generation !== mark.generation) continue;
      if (!this.#saved.has(other)) this.#saved.set(other, { ...other });
      yield other;
    }
  }

  *#fieldsOf(mark: FieldMark): Generator<FieldMark> {
    for (const other of this.#of(mark)) {
      if ("field" in other && other.field === mark.field) yield other;
    }
  }

  /** What was known by `from` is known by `to`. */
  moved(mark: FieldMark, from: Stamp | undefined, to: Stamp): void {
    if (from === undefined) return;
    const slot = slotOf(mark);
    for (const other of this.#fieldsOf(mark)) {
      if (slotOf(other) === slot) rename(other, [from], to);
    }
  }

  /** A set's value that came by `tags` is there again, by `to`. */
  added(
    mark: FieldMark & { readonly value: Value },
    tags: readonly Stamp[],
    to: Stamp,
  ): void {
    for (const other of this.#fieldsOf(mark)) {
      if ("tags" in other && other.value === mark.value) {
        rename(other, tags, to);
      }
    }
  }

  /** An element is there again, under another id. */
  inserted(mark: Dropped, element: string, to: Stamp): void {
    const old = mark.key;
    for (const other of this.#fieldsOf(mark)) {
      if (!("key" in other) || other.key !== old) continue;
      other.key = element;
      rename(other, mark.stamps, to);
    }
  }

  /** An item is there again, in its next generation. */
  created(mark: Deleted, to: Stamp): void {
    const owners = new Map<string, Owner[]>();
    for (const owner of mark.owners) {
      const known = owners.get(owner.field);
      if (known === undefined) owners.set(owner.field, [owner]);
      else known.push(owner);
    }
    for (const other of [...this.#of(mark)]) {
      if ("field" in other) {
        for (const owner of owners.get(other.field) ?? []) {
          inherit(other, owner, to);
        }
      }
      other.generation++;
    }
  }
}

/** The part of an item that a mark speaks of belongs to the create now. */
function inherit(mark: FieldMark, { key, stamps }: Owner, to: Stamp): void {
  if (key !== undefined && (!("key" in mark) || mark.key !== key)) return;
  rename(mark, stamps, to);
}

function rename(mark: FieldMark, from: readonly Stamp[], to: Stamp): void {
  const renamed = (stamp: Stamp) => isAmong(stamp, from) ? to : stamp;
  mark.stamp = renamed(mark.stamp);
  if ("was" in mark && mark.was !== undefined) mark.was = renamed(mark.was);
  if ("tags" in mark) mark.tags = mark.tags.map(renamed);
  if ("stamps" in mark) mark.stamps = mark.stamps.map(renamed);
}

/** Is it one of these? */
export function isAmong(stamp: Stamp, stamps: readonly Stamp[]): boolean {
  return stamps.some((other) => compareStamps(stamp, other) === 0);
}
