/**
 * The records of YCSB: ten fields of 100 bytes, each value a pure function of
 * record, field and version, so that any answer can be held against what was
 * written, and when.
 *
 * @module
 */

import { scramble } from "../harness/scramble.ts";
import { keyOf } from "./generators.ts";
import { fieldCount } from "./workloads.ts";

/** Bytes of each value. */
export const valueLength = 100;

/** Names of the fields. */
export const fieldNames = [
  "field0",
  "field1",
  "field2",
  "field3",
  "field4",
  "field5",
  "field6",
  "field7",
  "field8",
  "field9",
] as const;

/** The name of a field. */
export type FieldName = typeof fieldNames[number];

/** The fields of a record, as every engine gives them. */
export type Fields = Readonly<Record<FieldName, string>>;

/** Letters that values are cut from. */
const seaLength = 1 << 20;
/** The first printable character, and how many follow: YCSB's values are such text. */
const firstLetter = 32;
const letterCount = 95;

const decoder = new TextDecoder();
let sea: Uint8Array | undefined;

function letters(): Uint8Array {
  if (sea !== undefined) return sea;
  sea = new Uint8Array(seaLength);
  for (let at = 0; at < seaLength; at++) {
    sea[at] = firstLetter + scramble(at, 7) % letterCount;
  }
  return sea;
}

/** The value of a field of record `index`: a text of its own, not a slice of another. */
export function valueOf(index: number, field: number, version: number): string {
  const at = scramble(index * fieldCount + field, version) %
    (seaLength - valueLength);
  return decoder.decode(letters().subarray(at, at + valueLength));
}

/** A record as it is inserted. */
export function fieldsOf(index: number): Fields {
  return {
    field0: valueOf(index, 0, 0),
    field1: valueOf(index, 1, 0),
    field2: valueOf(index, 2, 0),
    field3: valueOf(index, 3, 0),
    field4: valueOf(index, 4, 0),
    field5: valueOf(index, 5, 0),
    field6: valueOf(index, 6, 0),
    field7: valueOf(index, 7, 0),
    field8: valueOf(index, 8, 0),
    field9: valueOf(index, 9, 0),
  };
}

/** The name of a field by its number. */
export function fieldName(field: number): FieldName {
  const name = fieldNames[field];
  if (name === undefined) throw new RangeError(`There is no field ${field}`);
  return name;
}

/** Reads every field, so that an engine which hands out promises of values must keep them. */
export function touch(fields: Fields): number {
  return fields.field0.charCodeAt(3) + fields.field1.charCodeAt(13) +
    fields.field2.charCodeAt(23) + fields.field3.charCodeAt(33) +
    fields.field4.charCodeAt(43) + fields.field5.charCodeAt(53) +
    fields.field6.charCodeAt(63) + fields.field7.charCodeAt(73) +
    fields.field8.charCodeAt(83) + fields.field9.charCodeAt(93);
}

/** Names of records by their number, each made once. */
export class Keys {
  readonly #keys: string[] = [];

  /** Makes names up to record `count`, before a clock starts. */
  reserve(count: number): void {
    for (let at = this.#keys.length; at < count; at++) {
      this.#keys.push(keyOf(at));
    }
  }

  /** The name of record `index`, which was reserved. */
  of(index: number): string {
    const key = this.#keys[index];
    if (key === undefined) throw new RangeError(`Record ${index} has no name`);
    return key;
  }

  /** All names up to record `count`, in order, with their numbers. */
  sorted(count: number): { readonly key: string; readonly index: number }[] {
    return this.#keys.slice(0, count)
      .map((key, index) => ({ key, index }))
      .sort((a, b) => a.key < b.key ? -1 : 1);
  }
}
