/**
 * Bytes of patches: the payload of a commit.
 *
 * See docs/format.md, "Payload: the patch". {@linkcode decodePatch} is the
 * strict reading that every payload passes once: it takes what {@linkcode
 * PatchWriter} makes of what the payload says, and no other bytes. What
 * passed it is read in parts, too: `patch_parts.ts`.
 *
 * Architecture invariant: foreign bytes never throw anything but `SyntaxError`,
 * and every count is bounded by the bytes that are left and by a named limit.
 */

import {
  ByteReader,
  ByteWriter,
  concatBytes,
  equalBytes,
} from "../base/bytes.ts";
import { assert, DatabaseError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { isRich } from "./kinds.ts";
import { lateRich } from "./late_rich.ts";
import { itemIdFault } from "./names.ts";
import { nodesOf, nodesOfShape } from "./parts.ts";
import type {
  Change,
  CreateOperation,
  FieldChange,
  Item,
  Operation,
  Shape,
  ShapeField,
  UpdateOperation,
} from "./patch.ts";
import { encodeShape, readShapes } from "./shape_codec.ts";
import { ERASED, isSalted, isStub, SALTED } from "./stub.ts";
import {
  malformed,
  readCount,
  readText,
  readValue,
  writeValue,
} from "./value_codec.ts";
import { createView, type View } from "./view.ts";

const FORMAT = 1;
/** Stands between operations where more stood. */
export const PADDING = 3;
/** What an operation is stands in two bits. */
export const CREATE = 0;
export const UPDATE = 1;
const DELETE = 2;
/** The change of a register, which gets another value; those of rich kinds have codes of their own. */
const SET = 0;
const whats = { create: CREATE, update: UPDATE, delete: DELETE } as const;

/** Bytes that a decoded operation takes at least. */
const operationBytesMin = 4;

export interface EncodedPatch {
  readonly payload: Uint8Array<ArrayBuffer>;
  /** Where the first operation starts, just behind the shape table. */
  readonly operationsOffset: number;
}

/** Room before the operations for a head whose length is known only at the end. */
const HEAD_ROOM = 4 * 1024;

/** Small patches are cut from slabs of this size: memory of its own costs each more than its bytes. */
const SLAB_BYTES = 64 * 1024;

/** A larger patch is handed over in the buffer that it was written to, not copied. */
const COPY_BYTES_MAX = 64 * 1024;

/** Writes patches one after the other, reusing its memory. */
export class PatchWriter {
  readonly #head = new ByteWriter();
  #body = new ByteWriter(HEAD_ROOM + 4096);
  #slab: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #used = 0;
  readonly #shapes: Shape[] = [];
  #lastShape: Shape | undefined;
  #lastIndex = 0;
  #count = 0;
  #nodes = 0;

  /** Forgets everything and begins a new patch. */
  begin(): void {
    this.#body.clear();
    this.#body.length = HEAD_ROOM;
    this.#shapes.length = 0;
    this.#lastShape = undefined;
    this.#count = 0;
    this.#nodes = 0;
  }

  /** Bytes of the operations so far. */
  get length(): number {
    return this.#body.length - HEAD_ROOM;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Appends an operation; gives its offset from the first one. Nothing is
   * appended when the operation or the patch would be too large.
   */
  add(op: Operation): number {
    const w = this.#body;
    const start = w.length;
    w.varint(this.#indexOf(op.shape) * 4 + whats[op.what]);
    w.varint(op.generation);
    w.text(op.id);
    if (op.what === "create") writeItem(w, op);
    else if (op.what === "update") writeChanges(w, op);
    if (w.length - start > limits.itemBytesMax) this.#refuse(start, op, "item");
    if (this.length > limits.payloadBytesMax - limits.itemBytesMax) {
      this.#refuse(start, op, "payload");
    }
    const nodes = this.#nodes + nodesOf(op);
    if (nodes > limits.nodesMax) this.#refuse(start, op, "nodes");
    if (this.#count === limits.operationsMax) this.#refuse(start, op, "count");
    this.#count++;
    this.#nodes = nodes;
    return start - HEAD_ROOM;
  }

  #refuse(start: number, op: Operation, what: keyof typeof excuses): never {
    this.#body.length = start;
    throw new DatabaseError(
      "value-too-large",
      `Cannot write ${op.shape.collection} ${op.id}: ${excuses[what]}.`,
    );
  }

  #indexOf(shape: Shape): number {
    if (shape === this.#lastShape) return this.#lastIndex;
    let index = this.#shapes.indexOf(shape);
    if (index < 0) index = this.#shapes.findIndex(isSameAs(shape));
    if (index < 0) {
      index = this.#shapes.push(shape) - 1;
      this.#nodes += nodesOfShape(shape);
    }
    this.#lastShape = shape;
    this.#lastIndex = index;
    return index;
  }

  /** The whole patch in bytes of its own, with a salt behind it where there is one. */
  finish(salt?: Uint8Array): EncodedPatch {
    const head = this.#head;
    head.clear();
    head.u8(salt === undefined ? FORMAT : SALTED);
    if (salt !== undefined) this.#body.bytes(salt);
    head.varint(this.#shapes.length);
    for (let i = 0; i < this.#shapes.length; i++) {
      head.bytes(encodeShape(this.#shapes[i]!));
    }
    head.varint(this.#count);
    return { payload: this.#join(head), operationsOffset: head.length };
  }

  /** A copy that nobody else writes to. */
  #keep(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    if (this.#used + bytes.length > this.#slab.length) {
      this.#slab = new Uint8Array(SLAB_BYTES);
      this.#used = 0;
    }
    const end = this.#used + bytes.length;
    const kept = this.#slab.subarray(this.#used, end);
    kept.set(bytes);
    this.#used = end;
    return kept;
  }

  /** The head, put right before the operations. */
  #join(head: ByteWriter): Uint8Array<ArrayBuffer> {
    const body = this.#body;
    const start = HEAD_ROOM - head.length;
    if (start < 0) return concatBytes(head.view(), body.view(HEAD_ROOM));
    body.view(start, HEAD_ROOM).set(head.view());
    if (body.length - start <= SLAB_BYTES / 8) {
      return this.#keep(body.view(start));
    }
    if (body.length - start <= COPY_BYTES_MAX) return body.copy(start);
    this.#body = new ByteWriter(HEAD_ROOM + 4096);
    return body.view(start);
  }
}

/** Another object may be the same shape: it stands once. */
function isSameAs(shape: Shape): (other: Shape) => boolean {
  const bytes = encodeShape(shape);
  return (other) => equalBytes(encodeShape(other), bytes);
}

const excuses = {
  item: `it is over ${limits.itemBytesMax} bytes. Split it into several items`,
  payload:
    `its transaction is over ${limits.payloadBytesMax} bytes. Use several transactions`,
  count:
    `its transaction has over ${limits.operationsMax} operations. Use several transactions`,
  nodes:
    `its transaction has over ${limits.nodesMax} values, those inside JSON too. Use several transactions`,
} as const;

/** What changes of one update are ordered by: their field, and what they do. */
function rankOf(field: number, code: number): number {
  return field * 256 + code;
}

function codeOf({ what }: Change): number {
  return what === "set" ? SET : lateRich.code.changeCodes[what];
}

/** The changes in the order of an update, those that do the same to a field as one. */
export function inOrder(
  { fields }: Shape,
  changes: readonly FieldChange[],
): readonly FieldChange[] {
  const rank = ({ field, change }: FieldChange) =>
    rankOf(fields.indexOf(field), codeOf(change));
  const sorted = changes.length > 1
    ? changes.toSorted((a, b) => rank(a) - rank(b))
    : changes;
  return sorted.some(({ field }) => isRich(field.kind))
    ? lateRich.code.joinChanges(sorted)
    : sorted;
}

function writeItem(w: ByteWriter, op: CreateOperation): void {
  const { fields } = op.shape;
  const { item } = op;
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    writeValue(w, field.kind, item[field.name]);
  }
}

export function writeChanges(w: ByteWriter, op: UpdateOperation): void {
  const { changes, shape: { fields } } = op;
  w.varint(changes.length);
  let last = -1;
  for (let i = 0; i < changes.length; i++) {
    const { field, change } = changes[i]!;
    const index = fields.indexOf(field);
    assert(index >= 0, "a change names a field of its operation's shape");
    const rank = rankOf(index, codeOf(change));
    assert(rank > last, "changes are in their order");
    last = rank;
    w.varint(index);
    if (change.what !== "set") lateRich.code.writeChange(w, change);
    else {
      w.u8(SET);
      writeValue(w, field.kind, change.value);
    }
  }
}

export interface DecodedPatch {
  readonly operations: readonly Operation[];
  /** Where the first operation starts, just behind the shape table. */
  readonly operationsOffset: number;
  /** By operation: where a create starts, from the first operation; -1 for others. */
  readonly createOffsets: readonly number[];
}

/** What writers saw: items of a patch are not yet shown to a reader. */
export const asWritten: View = createView(undefined);

const nothing: DecodedPatch = Object.freeze({
  operations: [],
  operationsOffset: 0,
  createOffsets: [],
});

/** For how many nodes there is room; less than 0 when it was too little. */
export interface Room {
  left: number;
}

/** How many operations a payload says that it has; `SyntaxError` when they cannot be in it. */
export function countOperations(payload: Uint8Array): number {
  if (isStub(payload)) return 0;
  const r = new ByteReader(payload);
  readTable(r);
  return readCount(r, limits.operationsMax, operationBytesMin);
}

/**
 * Reads a payload, strictly; `SyntaxError` when it is none. Where there is too
 * little `room` the rest is left out.
 */
export function decodePatch(payload: Uint8Array, room?: Room): DecodedPatch {
  if (isStub(payload)) return nothing;
  const r = new ByteReader(payload);
  r.isWhole = payload[0] !== ERASED;
  const shapes = readTable(r);
  const count = readCount(r, limits.operationsMax, operationBytesMin);
  const operationsOffset = r.at;
  if (room !== undefined) {
    for (const shape of shapes) room.left -= nodesOfShape(shape);
  }
  const operations: Operation[] = [];
  const createOffsets: number[] = [];
  // Shapes stand in the order in which operations need them: the next may be the first new one.
  const within = shapes.slice(0, 1);
  let used = 0;
  for (let i = 0; i < count; i++) {
    if (!r.isWhole) skipPadding(r);
    const start = r.at - operationsOffset;
    const operation = readOperation(r, within);
    if (operation.shape === within[used] && ++used < shapes.length) {
      within.push(shapes[used]!);
    }
    operations.push(operation);
    createOffsets.push(operation.what === "create" ? start : -1);
    if (room !== undefined && (room.left -= nodesOf(operation)) < 0) {
      return { operations, operationsOffset, createOffsets };
    }
  }
  if (used < shapes.length) malformed("a shape is without use");
  if (!r.isWhole) skipPadding(r);
  if (isSalted(payload)) skipSalt(r);
  if (!r.done) malformed("bytes follow its last operation");
  return { operations, operationsOffset, createOffsets };
}

/** Where one change of an update stands in a payload. */
export interface ChangeSpan extends FieldChange {
  /** Where it starts, behind the number of its field. */
  readonly start: number;
  readonly end: number;
}

/** Reads what stands before a payload's count of operations: its shapes. */
export function readTable(r: ByteReader): Shape[] {
  const format = r.u8();
  if (format !== FORMAT && format !== ERASED && format !== SALTED) {
    malformed("its format is unknown");
  }
  return readShapes(r);
}

/** Zeros are what who has no randomness writes. */
function skipSalt(r: ByteReader): void {
  const salt = r.bytes.subarray(r.at, r.end);
  const isSalt = salt.length === limits.saltBytes && salt.some((byte) => byte);
  if (!isSalt) malformed("its salt is none");
  r.skip(salt.length);
}

/** Goes on to the operation behind padding; no operation begins with it. */
export function skipPadding(r: ByteReader): void {
  while (r.at < r.end && r.bytes[r.at] === PADDING) r.at++;
}

export function readOperation(
  r: ByteReader,
  shapes: readonly Shape[],
  spans?: ChangeSpan[],
): Operation {
  const start = r.at;
  const head = r.varint();
  const shape = shapes[Math.floor(head / 4)] ??
    malformed("an operation has no shape");
  const generation = r.varint();
  if (generation > limits.generationMax) malformed("a generation is too large");
  const id = readText(r, limits.idBytesMax, true);
  if (itemIdFault(id) !== undefined) malformed("an item id is invalid");
  const operation = readRest(r, head % 4, shape, generation, id, spans);
  if (r.at - start > limits.itemBytesMax) malformed("an item is too large");
  return operation;
}

export function readRest(
  r: ByteReader,
  what: number,
  shape: Shape,
  generation: number,
  id: string,
  spans: ChangeSpan[] | undefined,
): Operation {
  if (what === CREATE) {
    const item = readItem(r, shape, id, asWritten, true);
    return { what: "create", shape, id, generation, item };
  }
  if (what === UPDATE) {
    const changes = readChanges(r, shape, spans);
    return { what: "update", shape, id, generation, changes };
  }
  if (what === DELETE) return { what: "delete", shape, id, generation };
  return malformed("an operation is of an unknown type");
}

export function readItem(
  r: ByteReader,
  shape: Shape,
  id: string,
  view: View,
  strict: boolean,
): Item {
  const { template, names, kinds } = view.planFor(shape);
  const draft = { ...template };
  draft.id = id;
  for (let i = 0; i < names.length; i++) {
    draft[names[i]!] = readValue(r, kinds[i]!, strict);
  }
  return view.checked(Object.freeze(draft));
}

function readChanges(
  r: ByteReader,
  shape: Shape,
  spans: ChangeSpan[] | undefined,
): readonly FieldChange[] {
  const count = readCount(r, limits.elementsMax, 3);
  if (count === 0) malformed("an update changes nothing");
  const changes: FieldChange[] = [];
  let last = -1;
  for (let i = 0; i < count; i++) {
    const index = r.varint();
    const field = shape.fields[index] ?? malformed("a change names no field");
    const start = r.at;
    const rank = rankOf(index, r.bytes[start]!);
    if (rank <= last) malformed("changes do not ascend");
    last = rank;
    const change = isRich(field.kind)
      ? lateRich.code.readChange(r, field)
      : readSet(r, field);
    changes.push(Object.freeze({ field, change }));
    spans?.push({ field, change, start, end: r.at });
  }
  return Object.freeze(changes);
}

function readSet(r: ByteReader, { kind }: ShapeField): Change {
  const code = r.u8();
  if (code !== SET) malformed(`a ${kind} field has a change of type ${code}`);
  return { what: "set", value: readValue(r, kind, true) };
}
