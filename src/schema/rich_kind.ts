/**
 * What a kind of field takes whose concurrent changes are all kept: one object
 * for each kind, in `rich_counter.ts` and its like; `rich.ts` lists them.
 *
 * States are immutable values; a changed one shares with the old one what stayed.
 * What has ended (removed adds, dropped keys, deleted elements) stands apart from
 * what is there, so that it costs those who read nothing. What readers see of many
 * parts is put together when somebody reads it.
 *
 * A field written by nothing but its item's create has no state of its own: it
 * follows from the value and the create's stamp ({@linkcode RichKind.begin}), so
 * that a plain item costs no maps.
 */

import type { ByteReader, ByteWriter } from "../base/bytes.ts";
import type { Stamp } from "../base/hlc.ts";
import { limits } from "../base/limits.ts";
import type { Change, Value } from "./patch.ts";
import {
  expectations,
  isPlainObject,
  refuseValue,
  type SchemaField,
} from "./validate.ts";

/** Writes one stamp: checkpoints and digests differ in how. */
export type WriteStamp = (w: ByteWriter, stamp: Stamp) => void;
export type ReadStamp = (r: ByteReader) => Stamp;

/** Names parts that an update brings. */
export interface ElementIds {
  /** An id for a list element, unlike all others. */
  elementId(): string;
}

export interface RichKind<State> {
  readonly empty: State;
  /** The state of a field that nothing but a create has written. */
  begin(value: Value, stamp: Stamp): State;
  create(state: State, value: Value, stamp: Stamp): State;
  /** The state after one change; a change of another class leaves it as it is. */
  change(state: State, change: Change, stamp: Stamp): State;
  /** Writes a state; entries in ascending order, so that equal states are equal bytes. */
  write(w: ByteWriter, state: State, stamp: WriteStamp): void;
  read(r: ByteReader, stamp: ReadStamp): State;
  /** From a whole value, or explicit changes, to the least changes that say the same. */
  prepare(
    field: SchemaField,
    state: State,
    given: unknown,
    ids: ElementIds,
  ): readonly Change[];
}

/** What is put together of many parts, once, when somebody reads it. */
export abstract class PartsState {
  #shown: Value;

  /** How many parts readers see. */
  abstract readonly size: number;

  /** What readers see: frozen, and the same at each time. */
  show(): Value {
    return this.#shown ??= this.build();
  }

  protected abstract build(): Value;

  /** Is it put together when somebody reads it? */
  get isShownLater(): boolean {
    return this.size > limits.shownAtOnceMax;
  }
}

type Parts = Readonly<Record<string, unknown>>;

/**
 * Explicit changes: a plain object whose keys are all names of changes, each
 * property read once. Anything else is meant as a whole value, which an object is
 * of a map alone.
 */
export function explicitParts(
  field: SchemaField,
  given: unknown,
  names: readonly string[],
): Parts | undefined {
  if (!isPlainObject(given)) return undefined;
  const keys = Object.keys(given);
  if (keys.length === 0) return undefined;
  if (!keys.every((key) => names.includes(key))) {
    if (field.kind === "map") return undefined;
    const parts = `{ ${names.join(", ")} }`;
    refuseValue(field, `${expectations[field.kind]} or ${parts}`, given);
  }
  return Object.assign(Object.create(null), given);
}
