/**
 * Parts of payloads that {@linkcode decodePatch} has accepted: heads, single
 * operations and changes. Loaded with checkpoints, history and refusals.
 */

import { ByteReader } from "../base/bytes.ts";
import type { Item, Operation, Shape } from "./patch.ts";
import {
  asWritten,
  type ChangeSpan,
  CREATE,
  readItem,
  readOperation,
  readRest,
  readTable,
  skipPadding,
} from "./patch_codec.ts";
import { readShapes } from "./shape_codec.ts";
import { malformed } from "./value_codec.ts";
import type { View } from "./view.ts";

export interface CreatedRow {
  readonly id: string;
  readonly generation: number;
  readonly item: Item;
}

/**
 * Reads the shapes of the payload that begins at the reader, and goes on to its
 * first operation. Only for bytes that {@linkcode decodePatch} has accepted.
 */
export function readPatchHead(
  r: ByteReader,
  counted?: (operations: number) => void,
): readonly Shape[] {
  const shapes = readTable(r);
  const count = r.varint();
  counted?.(count);
  return shapes;
}

/** Every change in a payload that {@linkcode decodePatch} has accepted, in order. */
export function changesIn(payload: Uint8Array): ChangeSpan[] {
  const r = new ByteReader(payload, 1);
  const shapes = readShapes(r);
  const spans: ChangeSpan[] = [];
  for (let left = r.varint(); left > 0; left--) {
    skipPadding(r);
    readOperation(r, shapes, spans);
  }
  return spans;
}

/** Reads the operation at the reader, on an item that is known, of bytes that {@linkcode decodePatch} has accepted. */
export function readOperationOn(
  id: string,
  r: ByteReader,
  shapes: readonly Shape[],
): Operation {
  const head = r.varint();
  const generation = r.varint();
  r.skipText();
  const shape = shapes[Math.floor(head / 4)]!;
  return readRest(r, head % 4, shape, generation, id, undefined);
}

/**
 * Reads the create operation that stands at the reader, as a view shows it.
 * Only for bytes that {@linkcode decodePatch} has accepted before.
 */
export function decodeCreateAt(
  reader: ByteReader,
  shape: Shape,
  view: View,
): CreatedRow {
  const head = reader.varint();
  if (head % 4 !== CREATE) malformed("no create operation stands here");
  const generation = reader.varint();
  const id = reader.text();
  if (view.planFor(shape).isFitting) {
    const item = readItem(reader, shape, id, view, false);
    return { id, generation, item };
  }
  const item = readItem(reader, shape, id, asWritten, false);
  return { id, generation, item: view.show(shape, item) };
}
