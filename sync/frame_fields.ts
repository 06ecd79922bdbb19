/**
 * The fields that frames, and what else this folder writes, are made of. A record
 * is declared once, as its fields in their order, and read and written by that.
 *
 * @module
 */

import { readCount, readText } from "../repo/commit/canonical.ts";
import {
  chainBytes,
  chainBytesLength,
  chainName,
} from "../repo/commit/commit.ts";
import {
  encodeVector,
  readVector,
  type VersionVector,
} from "../repo/commit/version_vector.ts";
import type { ByteReader, ByteWriter } from "../src/base/bytes.ts";
import { limits } from "../src/base/limits.ts";

/** How values of one kind become bytes. Each has one form; what is none throws `SyntaxError`. */
export interface Field<T> {
  write(writer: ByteWriter, value: T): void;
  read(reader: ByteReader): T;
}

/** What a field says. */
export type ValueOf<F> = F extends Field<infer T> ? T : never;

/** The fields of a record, in their order. */
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What a record of these fields says. */
export type Said<F extends Fields> = {
  readonly [Name in keyof F]: ValueOf<F[Name]>;
};

/** What a decoder throws. */
export function unfit(what: string): SyntaxError {
  return new SyntaxError(`Cannot decode frame: ${what}`);
}

/** A record of these fields, one behind the other. */
export function struct<F extends Fields>(fields: F): Field<Said<F>> {
  const entries = Object.entries(fields);
  return {
    write(writer, said) {
      for (const [name, field] of entries) field.write(writer, said[name]);
    },
    read(reader) {
      const said: Record<string, unknown> = {};
      for (const [name, field] of entries) said[name] = field.read(reader);
      return said as Said<F>;
    },
  };
}

/** One byte. */
export const u8: Field<number> = {
  write: (writer, value) => writer.u8(value),
  read: (reader) => reader.u8(),
};

/** Four bytes. */
export const u32: Field<number> = {
  write: (writer, value) => writer.u32(value),
  read: (reader) => reader.u32(),
};

/** Six bytes. */
export const u48: Field<number> = {
  write: (writer, value) => writer.u48(value),
  read: (reader) => reader.u48(),
};

/** A varint. */
export const count: Field<number> = {
  write: (writer, value) => writer.varint(value),
  read: readCount,
};

/** One bit in a byte. */
export const flag: Field<boolean> = {
  write: (writer, value) => writer.u8(value ? 1 : 0),
  read(reader) {
    const byte = reader.u8();
    if (byte > 1) throw unfit("a flag is neither 0 nor 1");
    return byte === 1;
  },
};

/** Bytes behind their length: read as a view. */
export const bytes: Field<Uint8Array> = {
  write(writer, value) {
    writer.varint(value.length);
    writer.bytes(value);
  },
  read: (reader) => reader.take(readCount(reader)),
};

/** So many bytes: read as a view. */
export function fixed(length: number): Field<Uint8Array> {
  return {
    write: (writer, value) => writer.bytes(value),
    read: (reader) => reader.take(length),
  };
}

/** So many bytes, copied out, so that they do not keep what they were read from. */
export function copied(length: number): Field<Uint8Array> {
  return { ...fixed(length), read: (reader) => reader.take(length).slice() };
}

/** The bytes to the end: read as a view. */
export const rest: Field<Uint8Array> = {
  write: (writer, value) => writer.bytes(value),
  read: (reader) => reader.take(reader.end - reader.at),
};

/** A text of at most so many bytes. */
export function textUpTo(bytesMax: number): Field<string> {
  return {
    write: (writer, value) => writer.text(value),
    read: (reader) => readText(reader, bytesMax),
  };
}

const CHARACTERS_MAX = Math.floor(limits.wireTextBytesMax / 3);

/** A text of the wire, which is cut so that the other side takes it. */
export const text: Field<string> = {
  ...textUpTo(limits.wireTextBytesMax),
  write: (writer, value) =>
    writer.text(value.slice(0, CHARACTERS_MAX).toWellFormed()),
};

/** The name of a chain. */
export const chain: Field<string> = {
  write: (writer, value) => writer.bytes(chainBytes(value)),
  read: (reader) => chainName(reader.take(chainBytesLength)),
};

/** A list of certificates, own first. */
export const certificates: Field<readonly Uint8Array[]> = {
  write(writer, list) {
    writer.u8(list.length);
    for (const one of list) bytes.write(writer, one);
  },
  read(reader) {
    const length = reader.u8();
    if (length > limits.certificatesMax) throw unfit("too many certificates");
    return Array.from({ length }, () => bytes.read(reader));
  },
};

/** How many commits of each chain. */
export const vector: Field<VersionVector> = {
  write: (writer, value) => writer.bytes(encodeVector(value)),
  read: readVector,
};

/** A position in a server's log, under the life of that log; `check`: the server's proof to itself that it gave it out. */
export const cursor = struct({
  epoch: copied(16),
  position: count,
  check: copied(8),
});

/** See {@linkcode cursor}. */
export type Cursor = ValueOf<typeof cursor>;

/** A last field that may be missing. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return {
    write: (writer, value) => value !== undefined && field.write(writer, value),
    read: (reader) => reader.done ? undefined : field.read(reader),
  };
}

/** A field behind a flag that says whether it is there. */
export function flagged<T>(field: Field<T>): Field<T | undefined> {
  return {
    write(writer, value) {
      flag.write(writer, value !== undefined);
      if (value !== undefined) field.write(writer, value);
    },
    read: (reader) => flag.read(reader) ? field.read(reader) : undefined,
  };
}
