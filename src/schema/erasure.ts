/**
 * Erasing what a commit said of some items: values go, and what others build on
 * stays: which fields were written when, keys, elements, adds, increments, units
 * of texts. So it wins and loses against other commits as before.
 *
 * `erased payload = 3 | shapes | operations`, as long as what it stands for. Of
 * the items that are meant every value is absent, of a text every unit deleted,
 * and bytes of 3 fill up what that leaves behind the operation, and stand in the
 * place of a salt. So all others stand where they stood.
 *
 * Architecture invariant: everybody makes the same of the same payload, in
 * whatever order items are erased, and no more of what was erased twice.
 */

import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { assert } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { isRich } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import type { Change, Operation, TaggedValue, Value } from "./patch.ts";
import {
  PADDING,
  readOperation,
  skipPadding,
  writeChanges,
} from "./patch_codec.ts";
import { readPatchHead } from "./patch_parts.ts";
import { ERASED, isSalted, isStub } from "./stub.ts";
import { writeValue } from "./value_codec.ts";

export type IsMeant = (operation: Operation) => boolean;

/**
 * A payload that `decodePatch` has accepted, without the values of the operations
 * that are meant; `undefined` where none is, or nothing is left of them.
 */
export function erase(
  payload: Uint8Array,
  isMeant: IsMeant,
): Uint8Array<ArrayBuffer> | undefined {
  if (isStub(payload)) return undefined;
  const reader = new ByteReader(payload);
  let left = 0;
  const shapes = readPatchHead(reader, (count) => left = count);
  const erased = payload.slice();
  let isChanged = false;
  for (; left > 0; left--) {
    skipPadding(reader);
    const start = reader.at;
    const operation = readOperation(reader, shapes);
    const { at: end } = reader;
    if (!isMeant(operation)) continue;
    const bytes = encode(operation, payload.subarray(start, end));
    assert(bytes.length <= end - start, "what is erased is no longer");
    erased.set(bytes, start);
    erased.fill(PADDING, start + bytes.length, end);
    isChanged = true;
  }
  if (!isChanged || equalBytes(erased, payload)) return undefined;
  // What is left could be guessed, and then be told from what was there.
  if (isSalted(payload)) {
    erased.fill(PADDING, payload.length - limits.saltBytes);
  }
  erased[0] = ERASED;
  return erased;
}

function encode(operation: Operation, bytes: Uint8Array): Uint8Array {
  if (operation.what === "delete") return bytes;
  const reader = new ByteReader(bytes);
  reader.varint(); // Its shape's place in the table stays.
  reader.varint();
  reader.skipText();
  const writer = new ByteWriter(bytes.length);
  writer.bytes(bytes.subarray(0, reader.at));
  if (operation.what === "create") {
    const { item, shape: { fields } } = operation;
    for (const { name, kind } of fields) {
      const value = kind === "counter" ? item[name] : undefined;
      writeValue(writer, kind, value);
    }
    return writer.view();
  }
  const changes = operation.changes.map(({ field, change }) => ({
    field,
    change: isRich(field.kind) ? without(change) : nothing,
  }));
  writeChanges(writer, { ...operation, changes });
  return writer.view();
}

const nothing: Change = { what: "set", value: undefined };
const gone: Value = undefined;

/** What is left of a change. */
function without(change: Change): Change {
  switch (change.what) {
    case "set":
      return nothing;
    case "add":
      return { what: "add", values: [gone] };
    case "remove":
      return lateRich.code.joinParts({
        what: "remove",
        values: [{ value: gone, tags: tagsIn(change.values) }],
      });
    case "put":
      return {
        what: "put",
        entries: change.entries.map(([key]) => [key, gone]),
      };
    case "replace":
      return {
        what: "replace",
        values: change.values.map(([element]) => [element, gone]),
      };
    case "insert":
      return {
        what: "insert",
        elements: change.elements.map((one) => ({ ...one, value: gone })),
      };
    case "edit":
      return { what: "edit", text: lateRich.code.withoutText(change.text) };
    default:
      return change;
  }
}

/** What an operation still says where it may have been erased: nobody says the rest again. */
export function withoutBlank(operation: Operation): Operation | undefined {
  if (operation.what === "delete") return operation;
  if (operation.what === "create") {
    const { item, shape: { fields } } = operation;
    const isSaid = fields.some(({ name, kind }) =>
      kind !== "counter" && item[name] !== undefined
    );
    return isSaid ? operation : undefined;
  }
  const changes = operation.changes.filter(({ change }) => !isBlank(change));
  if (changes.length === operation.changes.length) return operation;
  return changes.length === 0 ? undefined : { ...operation, changes };
}

function isBlank(change: Change): boolean {
  switch (change.what) {
    case "set":
      return change.value === undefined;
    case "add":
      return change.values.every((value) => value === undefined);
    case "remove":
      return change.values.every(({ value }) => value === undefined);
    case "put":
      return change.entries.every(([, value]) => value === undefined);
    case "replace":
      return change.values.every(([, value]) => value === undefined);
    case "insert":
      return change.elements.every(({ value }) => value === undefined);
    case "edit":
      return [...change.text.clients.values()].every(({ runs }) =>
        runs.every(({ text }) => text === undefined)
      );
    default:
      return false;
  }
}

function tagsIn(values: readonly TaggedValue[]) {
  return values.flatMap(({ tags }) => tags);
}
