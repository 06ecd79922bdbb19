/**
 * Items as MessagePack: an export that loses nothing.
 *
 * ```text
 * file    header item* count
 * header  map: "sheaf" 1, "kinds" a map of the fields' names to their kinds
 * item    map: "id" a string, and the values by field name, those that are there
 * count   how many items there are: a file without it was cut short
 * ```
 *
 * A date is MessagePack's timestamp, bytes are bytes, sets and lists are arrays.
 * Items are packed and unpacked one by one: whatever a file holds, no more of it is
 * gathered than one item takes.
 *
 * Architecture invariant: foreign bytes are refused by the number of their item,
 * and never give a value that MessagePack's own types cannot say.
 */

import { Packr } from "msgpackr/pack";
import { Unpackr } from "msgpackr/unpack";
import { concatBytes } from "../base/bytes.ts";
import { limits } from "../base/limits.ts";
import { fieldKinds } from "../schema/patch.ts";
import { rowFailure } from "./failure.ts";
import type {
  Field,
  FieldKind,
  Item,
  RawRow,
  RowGroups,
  Value,
} from "./field.ts";
import type { ItemWriter } from "./writers.ts";

const FORMAT = 1;

/** One item, with the names of its fields. */
const itemBytesMax = 4 * limits.itemBytesMax;

/** Items have maps in maps, which one more map holds. */
const depthMax = limits.jsonDepthMax + 2;

/** Without the records that only msgpackr reads; maps, since any name may be a key. */
const options = { useRecords: false, mapsAsObjects: false };

export function msgpackWriter(
  fields: readonly Field[],
): ItemWriter<Uint8Array> {
  const packr = new Packr(options);
  const kinds = new Map(fields.map(({ name, kind }) => [name, kind]));
  let count = 0;
  return {
    head: packr.pack(
      new Map<string, unknown>([["sheaf", FORMAT], ["kinds", kinds]]),
    ),
    item(item: Item) {
      count++;
      return packr.pack(toMaps(item));
    },
    get tail() {
      return packr.pack(count);
    },
  };
}

/** Objects become maps: msgpackr would ask them for methods by name. */
function toMaps(value: Value): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(toMaps);
  const map = new Map<string, unknown>();
  for (const [key, inner] of Object.entries(value)) {
    if (inner !== undefined) map.set(key, toMaps(inner));
  }
  return map;
}

/** The rows of a file; their line is the number of the item. */
export async function* readMsgpack(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
): RowGroups {
  const unpacking = new Unpacking(name);
  for await (const piece of pieces) {
    const rows = unpacking.push(piece);
    if (rows.length > 0) yield rows;
  }
  const rows = unpacking.end();
  if (rows.length > 0) yield rows;
}

/** The fields that a file's header names; whether they may be missing only its items tell. */
export async function readKinds(
  name: string,
  pieces: AsyncIterable<Uint8Array>,
): Promise<readonly Field[]> {
  const unpacking = new Unpacking(name);
  for await (const piece of pieces) {
    unpacking.push(piece);
    if (unpacking.kinds !== undefined) return unpacking.kinds;
  }
  unpacking.end();
  return unpacking.kinds ?? [];
}

class Unpacking {
  readonly #name: string;
  readonly #unpackr = new Unpackr(options);
  #kinds: readonly Field[] | undefined;
  #items = 0;
  #isOver = false;
  #gathered: Uint8Array[] = [];
  #length = 0;
  /** An item that is not whole is tried again only with twice its bytes: all in all linear. */
  #enough = 0;

  constructor(name: string) {
    this.#name = name;
  }

  get kinds(): readonly Field[] | undefined {
    return this.#kinds;
  }

  /** Takes the next piece; the items that end in it. */
  push(piece: Uint8Array): RawRow[] {
    this.#gathered.push(piece);
    this.#length += piece.length;
    return this.#length < this.#enough ? [] : this.#unpack();
  }

  /** Nothing more comes; the last items. */
  end(): RawRow[] {
    const rows = this.#length > 0 ? this.#unpack() : [];
    if (this.#isOver && this.#length === 0) return rows;
    this.#items++;
    throw this.#failure("the file ends before its last item: it was cut short");
  }

  #unpack(): RawRow[] {
    const bytes = concatBytes(...this.#gathered);
    const rows: RawRow[] = [];
    let end = 0;
    try {
      this.#unpackr.unpackMultiple(bytes, (value, _start, to) => {
        this.#take(value, rows);
        end = to ?? end;
      });
    } catch (error) {
      if (!isIncomplete(error)) throw this.#explain(error);
    }
    const rest = bytes.subarray(end);
    if (rest.length > itemBytesMax) {
      this.#items++;
      throw this.#failure(`it is over ${itemBytesMax} bytes`);
    }
    this.#gathered = rest.length > 0 ? [rest] : [];
    this.#length = rest.length;
    this.#enough = 2 * rest.length;
    return rows;
  }

  /** One value of the file: its header, an item, or the count behind them. */
  #take(value: unknown, rows: RawRow[]): void {
    if (this.#kinds === undefined) {
      this.#kinds = readHeader(value);
      return;
    }
    this.#items++;
    if (this.#isOver) throw new SyntaxError("bytes stand behind the last item");
    if (typeof value === "number") return this.#finish(value);
    const values = fromMaps(value, 0);
    if (!(value instanceof Map)) throw new SyntaxError("it is no item");
    rows.push({ line: this.#items, values: values as RawRow["values"] });
  }

  #finish(count: number): void {
    this.#items--;
    this.#isOver = true;
    if (count === this.#items) return;
    throw new SyntaxError(
      `${count} items were written, ${this.#items} are here`,
    );
  }

  #explain(error: unknown): Error {
    if (error instanceof SyntaxError) return this.#failure(error.message);
    const why = error instanceof Error ? error.message : String(error);
    this.#items++;
    return this.#failure(`not MessagePack: ${why}`);
  }

  #failure(message: string): Error {
    return rowFailure(this.#name, Math.max(this.#items, 1), message);
  }
}

/** Does the error only say that more bytes are needed? */
function isIncomplete(error: unknown): boolean {
  return error instanceof Error && "incomplete" in error &&
    error.incomplete === true;
}

function readHeader(value: unknown): readonly Field[] {
  const header = value instanceof Map ? value : new Map();
  if (header.get("sheaf") !== FORMAT) {
    throw new SyntaxError("no export of sheaf begins so");
  }
  const kinds: unknown = header.get("kinds");
  if (!(kinds instanceof Map)) throw new SyntaxError("its kinds are missing");
  return Array.from(kinds, ([name, kind]: [unknown, unknown]) => {
    if (typeof name === "string" && isKind(kind)) return { name, kind };
    throw new SyntaxError(`field "${name}" is of an unknown kind`);
  });
}

function isKind(kind: unknown): kind is FieldKind {
  return typeof kind === "string" && Object.hasOwn(fieldKinds, kind);
}

/** A value with objects for its maps; `SyntaxError` when it has what no field holds. */
function fromMaps(value: unknown, depth: number): Value {
  switch (typeof value) {
    case "undefined":
    case "boolean":
    case "number":
    case "string":
      return value;
    case "bigint":
      return toNumber(value);
    case "object":
      return value === null ? null : fromObject(value, depth);
    default:
      throw new SyntaxError(`it holds a ${typeof value}`);
  }
}

function toNumber(value: bigint): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new SyntaxError(`the number ${value} would be kept as ${number}`);
}

function fromObject(value: object, depth: number): Value {
  if (value instanceof Date || value instanceof Uint8Array) return value;
  if (depth > depthMax) throw new SyntaxError("it is nested too deep");
  if (Array.isArray(value)) {
    return value.map((inner) => fromMaps(inner, depth + 1));
  }
  if (!(value instanceof Map)) {
    throw new SyntaxError(`it holds a ${value.constructor.name}`);
  }
  // Without a prototype any name is a name.
  const record: { [key: string]: Value } = Object.create(null);
  for (const [key, inner] of value) {
    if (typeof key !== "string") throw new SyntaxError("a key is no string");
    record[key] = fromMaps(inner, depth + 1);
  }
  return record;
}
