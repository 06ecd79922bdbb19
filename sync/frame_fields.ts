/**
 * The fields that frames are made of: lists, cursors, records, questions.
 *
 * @module
 */

import { readCount, readText } from "../repo/canonical.ts";
import { chainBytes, chainBytesLength, chainName } from "../repo/commit.ts";
import {
  decodeVector,
  encodeVector,
  type VersionVector,
} from "../repo/version_vector.ts";
import type { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";
import type {
  AuditQuery,
  Message,
  MessageOf,
  Start,
  WireKind,
  WireRecord,
} from "./message.ts";
import { type Cursor, readCursor } from "./resume.ts";

/** How the messages of one kind become bytes, behind the kind's byte. */
export interface Codec<M extends Message> {
  readonly kind: number;
  write(writer: ByteWriter, message: M): void;
  read(reader: ByteReader): Omit<M, "is">;
}

/** One for each kind. */
export type Codecs = { readonly [Is in Message["is"]]: Codec<MessageOf<Is>> };

/** Kinds of records on the wire: as in the log. */
const RECORD_KINDS: Readonly<Record<WireKind, number>> = {
  certificate: 2,
  signed: 3,
  unsigned: 4,
  revocation: 5,
};
const RECORD_KIND_OF = new Map(
  Object.entries(RECORD_KINDS).map(([kind, byte]) =>
    [byte, kind as WireKind] as const
  ),
);
/** Half-bytes of a hash. */
const PREFIX_MAX = 64;

/** What a decoder of frames throws. */
export function unfit(what: string): SyntaxError {
  return new SyntaxError(`Cannot decode frame: ${what}`);
}

/** Appends bytes behind their length. */
export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

/** Bytes behind their length: a view. */
export function readBytes(reader: ByteReader): Uint8Array {
  return reader.take(readCount(reader));
}

/** The bytes to the end: a view. */
export function readRest(reader: ByteReader): Uint8Array {
  return reader.take(reader.end - reader.at);
}

/** A text of the wire. */
export function readWireText(reader: ByteReader): string {
  return readText(reader, limits.wireTextBytesMax);
}

/** Cuts a text so that {@linkcode readWireText} takes it. */
export function wireText(text: string): string {
  const charactersMax = Math.floor(limits.wireTextBytesMax / 3);
  return text.length <= charactersMax
    ? text.toWellFormed()
    : text.slice(0, charactersMax).toWellFormed();
}

/** One bit in a byte. */
export function readFlag(reader: ByteReader): boolean {
  const byte = reader.u8();
  if (byte > 1) throw unfit("a flag is neither 0 nor 1");
  return byte === 1;
}

/** The name of a chain. */
export function readChain(reader: ByteReader): string {
  return chainName(reader.take(chainBytesLength));
}

/** Appends at most 255 byte strings. */
export function writeList(
  writer: ByteWriter,
  list: readonly Uint8Array[],
): void {
  writer.u8(list.length);
  for (const bytes of list) writeBytes(writer, bytes);
}

/** A list of certificates, own first. */
export function readCertificates(reader: ByteReader): Uint8Array[] {
  const count = reader.u8();
  if (count > limits.certificatesMax) throw unfit("too many certificates");
  return Array.from({ length: count }, () => readBytes(reader));
}

/** Appends a cursor. */
export function writeCursor(writer: ByteWriter, cursor: Cursor): void {
  writer.bytes(cursor.epoch);
  writer.varint(cursor.position);
  writer.bytes(cursor.check);
}

/** A vector, which is always the last field. */
export function readVector(reader: ByteReader): VersionVector {
  return decodeVector(readRest(reader));
}

/** Appends what a client has. */
export function writeStart(writer: ByteWriter, start: Start): void {
  writer.u8(start.from === "cursor" ? 0 : 1);
  if (start.from === "cursor") writeCursor(writer, start.cursor);
  else writer.bytes(encodeVector(start.vector));
}

/** Reads what a client has. */
export function readStart(reader: ByteReader): Start {
  return readFlag(reader)
    ? { from: "vector", vector: readVector(reader) }
    : { from: "cursor", cursor: readCursor(reader) };
}

/** Appends the kind of a record. */
export function writeRecordKind(
  writer: ByteWriter,
  kind: WireKind,
): void {
  writer.u8(RECORD_KINDS[kind]);
}

/** The kind of a record. */
export function readRecordKind(reader: ByteReader): WireKind {
  const kind = RECORD_KIND_OF.get(reader.u8());
  if (kind === undefined) throw unfit("a record's kind is unknown");
  return kind;
}

/** Appends records. */
export function writeRecords(
  writer: ByteWriter,
  records: readonly WireRecord[],
): void {
  writer.varint(records.length);
  for (const { kind, bytes } of records) {
    writer.u8(RECORD_KINDS[kind]);
    writeBytes(writer, bytes);
  }
}

/** Records are copied out where they are small, so that a parked one does not keep its frame. */
export function readRecords(reader: ByteReader): WireRecord[] {
  const count = readCount(reader);
  const records: WireRecord[] = [];
  for (let i = 0; i < count; i++) {
    const kind = readRecordKind(reader);
    const view = readBytes(reader);
    const isMost = view.length * 2 > reader.end;
    records.push({ kind, bytes: isMost ? view : view.slice() });
  }
  return records;
}

const QUERIES = ["summary", "ids", "state", "items"] as const;

/** Appends a question of an audit. */
export function writeQuery(writer: ByteWriter, query: AuditQuery): void {
  writer.u8(QUERIES.indexOf(query.ask));
  if (query.ask === "ids") {
    writer.bytes(chainBytes(query.chain));
    writer.varint(query.numbers.length);
    for (const number of query.numbers) writer.varint(number);
  } else if (query.ask !== "summary") {
    writer.u8(query.prefix.length);
    for (const half of query.prefix) writer.u8(half);
  }
}

/** Reads a question of an audit. */
export function readQuery(reader: ByteReader): AuditQuery {
  const ask = QUERIES[reader.u8()];
  if (ask === undefined) throw unfit("an audit asks for something unknown");
  if (ask === "summary") return { ask };
  if (ask === "ids") {
    return { ask, chain: readChain(reader), numbers: readNumbers(reader) };
  }
  const depth = reader.u8();
  const prefix = [...reader.take(depth)];
  if (depth > PREFIX_MAX || prefix.some((half) => half > 15)) {
    throw unfit("a prefix is not made of half-bytes");
  }
  return { ask, prefix };
}

function readNumbers(reader: ByteReader): number[] {
  const count = readCount(reader);
  if (count > limits.auditNumbersMax) throw unfit("too many numbers");
  return Array.from({ length: count }, () => readCount(reader));
}

/** A message that is a channel and bytes to the frame's end. */
export function channelAndBytes<Key extends string>(key: Key): {
  write(
    writer: ByteWriter,
    message: { readonly channel: number } & Readonly<Record<Key, Uint8Array>>,
  ): void;
  read(reader: ByteReader): { channel: number } & Record<Key, Uint8Array>;
} {
  return {
    write(writer, message) {
      writer.varint(message.channel);
      writer.bytes(message[key]);
    },
    read(reader) {
      const channel = readCount(reader);
      return { channel, [key]: readRest(reader) } as
        & { channel: number }
        & Record<Key, Uint8Array>;
    },
  };
}
