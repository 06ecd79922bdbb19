/**
 * The bytes of a pool's table: which of its files has which name. See
 * docs/format-opfs.md.
 *
 * Never touches a file. Reading trusts nothing: what does not check out is
 * passed over, and said.
 */

import { ByteReader, ByteWriter, equalBytes } from "../base/bytes.ts";
import { crc32 } from "../base/crc32.ts";
import { checkFileName } from "./names.ts";

/** Bytes of the header, before the intent. */
export const TABLE_HEADER_BYTES = 64;
/** Where the first record stands. */
export const TABLE_START = 128;
/** Bytes of an identity. */
export const IDENTITY_BYTES = 16;

const MAGIC = /* @__PURE__ */ new TextEncoder().encode("SHEAFTAB");
const FORMAT = 1;
const INTENT_BYTES = 16;
const FRAME_BYTES = 6;
const FILE_ID = /^([1-9]\d{0,14})-(0|[1-9]\d{0,9})$/;

const PUT = 1;
const DROP = 2;
const MOVE = 3;

export type TableChange =
  | readonly [kind: "put", name: string, id: string]
  | readonly [kind: "drop", name: string, id: ""]
  | readonly [kind: "move", from: string, to: string];

const KINDS = { put: PUT, drop: DROP, move: MOVE } as const;

export interface TableContent {
  /** Id of the file of each name. */
  readonly names: Map<string, string>;
  /** The file that its storage was about to change. */
  readonly intent: string | undefined;
  /** Something between its records is no record. */
  readonly isDamaged: boolean;
}

export function fileId(term: number, number: number): string {
  return `${term}-${number}`;
}

export function parseFileId(id: string): [number, number] | undefined {
  const parts = FILE_ID.exec(id);
  return parts === null ? undefined : [Number(parts[1]), Number(parts[2])];
}

export function encodeTableHeader(
  identity: Uint8Array,
  term: number,
): Uint8Array {
  const header = new ByteWriter(TABLE_HEADER_BYTES);
  header.bytes(MAGIC);
  header.u16(FORMAT);
  header.bytes(identity);
  header.u48(term);
  header.bytes(new Uint8Array(28));
  header.u32(crc32(header.view()));
  return header.copy();
}

/** The intent to change a file; zeros when there is none. */
export function encodeIntent(id: string | undefined): Uint8Array {
  const intent = new ByteWriter(INTENT_BYTES);
  const parts = id === undefined ? undefined : parseFileId(id);
  if (parts === undefined) return new Uint8Array(INTENT_BYTES);
  intent.u48(parts[0]);
  intent.u32(parts[1]);
  intent.u16(0);
  intent.u32(crc32(intent.view()));
  return intent.copy();
}

export class TableEncoder {
  readonly #saltCrc: number;
  readonly #writer = new ByteWriter();

  constructor(header: Uint8Array) {
    this.#saltCrc = saltOf(header);
  }

  /** The record of a change at `offset`: a view that the next call replaces. */
  encode([kind, first, second]: TableChange, offset: number): Uint8Array {
    const writer = this.#writer;
    writer.clear();
    writer.bytes(new Uint8Array(FRAME_BYTES));
    writer.u8(KINDS[kind]);
    writer.text(first);
    writer.text(second);
    const record = writer.view();
    const length = record.length - FRAME_BYTES;
    const crc = recordCrc(this.#saltCrc, offset, record.subarray(FRAME_BYTES));
    const view = new DataView(record.buffer, record.byteOffset);
    view.setUint16(0, length, true);
    view.setUint32(2, crc, true);
    return record;
  }
}

/** What the bytes of a table say; `undefined` when they are none of this pool's. */
export function readTable(
  bytes: Uint8Array,
  identity: Uint8Array,
  term: number,
): TableContent | undefined {
  const header = encodeTableHeader(identity, term);
  if (bytes.length < TABLE_START) return undefined;
  if (!equalBytes(bytes.subarray(0, header.length), header)) return undefined;
  const saltCrc = saltOf(header);
  const names = new Map<string, string>();
  let isDamaged = false;
  let isBehindGap = false;
  for (let at = TABLE_START; at + FRAME_BYTES <= bytes.length;) {
    const body = bodyAt(bytes, at, saltCrc);
    if (body === undefined) {
      isBehindGap = true;
      at++;
      continue;
    }
    isDamaged ||= isBehindGap;
    apply(names, body);
    at += FRAME_BYTES + body.length;
  }
  return { names, intent: readIntent(bytes), isDamaged };
}

function saltOf(header: Uint8Array): number {
  return new DataView(header.buffer, header.byteOffset)
    .getUint32(TABLE_HEADER_BYTES - 4, true);
}

function recordCrc(
  saltCrc: number,
  offset: number,
  body: Uint8Array,
): number {
  const seed = new ByteWriter(12);
  seed.u32(saltCrc);
  seed.u48(offset);
  seed.u16(body.length);
  return crc32(body, crc32(seed.view()));
}

function bodyAt(
  bytes: Uint8Array,
  at: number,
  saltCrc: number,
): Uint8Array | undefined {
  const length = bytes[at]! | bytes[at + 1]! << 8;
  const start = at + FRAME_BYTES;
  if (length === 0 || start + length > bytes.length) return undefined;
  const body = bytes.subarray(start, start + length);
  const frame = new DataView(bytes.buffer, bytes.byteOffset + at, FRAME_BYTES);
  const crc = frame.getUint32(2, true);
  return recordCrc(saltCrc, at, body) === crc ? body : undefined;
}

function apply(names: Map<string, string>, body: Uint8Array): void {
  const reader = new ByteReader(body);
  const kind = reader.u8();
  const first = reader.text();
  const second = reader.text();
  checkFileName(first);
  if (kind === DROP) names.delete(first);
  else if (kind === PUT) {
    if (parseFileId(second) !== undefined) names.set(first, second);
  } else if (kind === MOVE) {
    checkFileName(second);
    const id = names.get(first);
    if (id === undefined) return;
    names.delete(first);
    names.set(second, id);
  }
}

function readIntent(bytes: Uint8Array): string | undefined {
  const start = TABLE_HEADER_BYTES;
  const reader = new ByteReader(bytes, start, start + INTENT_BYTES);
  const id = fileId(reader.u48(), reader.u32());
  const isWhole = parseFileId(id) !== undefined &&
    equalBytes(encodeIntent(id), bytes.subarray(start, start + INTENT_BYTES));
  return isWhole ? id : undefined;
}
