/**
 * Layouts: the fields of records, files and frames, declared once, in their
 * order, and read and written by that. `tools/layouts.ts` prints them as the
 * format pages show them.
 *
 * Two encodings of one value would be two names of one thing, so a reader
 * refuses the forms that our writers never make, with a `SyntaxError` and
 * nothing else. The hot codecs (patches, cells, batches) are written by hand.
 */

import { ByteReader, ByteWriter, decodeText, encodeText } from "./bytes.ts";
import { crc32 } from "./crc32.ts";
import { DatabaseError } from "./errors.ts";

/** How values of one kind become bytes. Each has one form; what is none throws `SyntaxError`. */
export interface Field<T> {
  write(writer: ByteWriter, value: T): void;
  read(reader: ByteReader): T;
  /** How the format pages show it, where it is not made of others. */
  readonly says?: string;
}

export type ValueOf<F> = F extends Field<infer T> ? T : never;

export type Fields = Readonly<Record<string, Field<unknown>>>;

export type Said<F extends Fields> = {
  readonly [Name in keyof F]: ValueOf<F[Name]>;
};

export function unfit(what: string): SyntaxError {
  return new SyntaxError(`Cannot decode: ${what}`);
}

/** A record of these fields, one behind the other. */
export function struct<F extends Fields>(
  fields: F,
): Field<Said<F>> & { readonly fields: F } {
  const entries = Object.entries(fields);
  return {
    fields,
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

export const u8: Field<number> = {
  says: "u8",
  write: (writer, value) => writer.u8(value),
  read: (reader) => reader.u8(),
};

export const u16: Field<number> = {
  says: "u16",
  write: (writer, value) => writer.u16(value),
  read: (reader) => reader.u16(),
};

export const u32: Field<number> = {
  says: "u32",
  write: (writer, value) => writer.u32(value),
  read: (reader) => reader.u32(),
};

export const u48: Field<number> = {
  says: "u48",
  write: (writer, value) => writer.u48(value),
  read: (reader) => reader.u48(),
};

export const count: Field<number> = {
  says: "varint",
  write: (writer, value) => writer.varint(value),
  read: (reader) => reader.varint(),
};

/** One bit in a byte. */
export const flag: Field<boolean> = {
  says: "u8",
  write: (writer, value) => writer.u8(value ? 1 : 0),
  read(reader) {
    const byte = reader.u8();
    if (byte > 1) throw unfit("a flag is neither 0 nor 1");
    return byte === 1;
  },
};

/** One of some words, as its place in their list. */
export function choice<const Word>(
  words: readonly Word[],
): Field<NonNullable<Word>> {
  return {
    says: "u8",
    write: (writer, value) => writer.u8(words.indexOf(value)),
    read(reader) {
      const word = words[reader.u8()];
      if (word === undefined || word === null) throw unfit("a word is unknown");
      return word;
    },
  };
}

export function writeBytes(writer: ByteWriter, bytes: Uint8Array): void {
  writer.varint(bytes.length);
  writer.bytes(bytes);
}

/** Reads what {@linkcode writeBytes} wrote: a view. */
export function readBytes(reader: ByteReader): Uint8Array {
  return reader.take(reader.varint());
}

/** Bytes behind their length: read as a view. */
export const bytes: Field<Uint8Array> = {
  says: "bytes",
  write: writeBytes,
  read: readBytes,
};

/** The same, copied out, so that they do not keep what they were read from. */
export const ownBytes: Field<Uint8Array> = {
  ...bytes,
  read: (reader) => readBytes(reader).slice(),
};

/** So many bytes: read as a view. */
export function fixed(length: number): Field<Uint8Array> {
  return {
    says: `{${length}}`,
    write: (writer, value) => writer.bytes(value),
    read: (reader) => reader.take(length),
  };
}

/** So many bytes, copied out. */
export function copied(length: number): Field<Uint8Array> {
  return { ...fixed(length), read: (reader) => reader.take(length).slice() };
}

/** Reads a text of at most `bytesMax` bytes whose ASCII mark tells the truth. */
export function readText(reader: ByteReader, bytesMax: number): string {
  const head = reader.varint();
  const isAscii = head % 2 === 0;
  const length = isAscii ? head / 2 : (head - 1) / 2;
  if (length > bytesMax) throw unfit("a text is too long");
  const text = decodeText(reader.take(length));
  if ((text.length === length) !== isAscii) {
    throw unfit("the ASCII mark of a text is wrong");
  }
  return text;
}

export function textUpTo(bytesMax: number): Field<string> {
  return {
    says: "text",
    write: (writer, value) => writer.text(value),
    read: (reader) => readText(reader, bytesMax),
  };
}

/** At most `max` of a field, behind how many there are. */
export function list<T>(
  of: Field<T>,
  max: number,
): Field<readonly T[]> & { readonly of: Field<T> } {
  return {
    of,
    write(writer, values) {
      writer.varint(values.length);
      for (const value of values) of.write(writer, value);
    },
    read(reader) {
      const length = reader.varint();
      if (length > max) throw unfit("a list is too long");
      const values: T[] = [];
      for (let i = 0; i < length; i++) values.push(of.read(reader));
      return values;
    },
  };
}

/** A field behind a flag that says whether it is there. */
export function flagged<T>(
  of: Field<T>,
): Field<T | undefined> & { readonly flagged: Field<T> } {
  return {
    flagged: of,
    write(writer, value) {
      flag.write(writer, value !== undefined);
      if (value !== undefined) of.write(writer, value);
    },
    read: (reader) => flag.read(reader) ? of.read(reader) : undefined,
  };
}

export function encodeRecord<T>(
  format: number,
  layout: Field<T>,
  said: T,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(512);
  writer.u8(format);
  layout.write(writer, said);
  return writer.copy();
}

export function decodeRecord<T>(
  format: number,
  layout: Field<T>,
  bytes: Uint8Array,
): T {
  const reader = new ByteReader(bytes);
  if (reader.u8() !== format) throw unfit("the format is unknown");
  const said = layout.read(reader);
  if (!reader.done) throw unfit("there are bytes after its end");
  return said;
}

/** A small file: magic, format, fields, checksum. */
export interface FileLayout<T> {
  /** 8 letters. */
  readonly magic: string;
  readonly format: number;
  readonly layout: Field<T>;
}

export function encodeFile<T>(
  { magic, format, layout }: FileLayout<T>,
  said: T,
): Uint8Array<ArrayBuffer> {
  const writer = new ByteWriter(512);
  writer.bytes(encodeText(magic));
  writer.u16(format);
  layout.write(writer, said);
  writer.u32(crc32(writer.view()));
  return writer.copy();
}

/**
 * Reads what {@linkcode encodeFile} wrote; `SyntaxError` where it is damaged or
 * another file.
 *
 * @throws {DatabaseError} `format-too-new`, `format-too-old`
 */
export function decodeFile<T>(
  { magic, format, layout }: FileLayout<T>,
  bytes: Uint8Array,
): T {
  const end = bytes.length - 4;
  if (end < magic.length + 2) throw unfit("the file is too short");
  const reader = new ByteReader(bytes, 0, end);
  for (const letter of magic) {
    if (reader.u8() !== letter.charCodeAt(0)) throw unfit("another magic");
  }
  const found = reader.u16();
  if (new ByteReader(bytes, end).u32() !== crc32(bytes.subarray(0, end))) {
    throw unfit("the checksum does not match");
  }
  if (found !== format) throw formatError(magic, found, format);
  const said = layout.read(reader);
  if (!reader.done) throw unfit("there are bytes after its end");
  return said;
}

function formatError(
  magic: string,
  found: number,
  known: number,
): DatabaseError {
  const where =
    `Cannot read a file of magic "${magic}": its format is ${found}`;
  return found > known
    ? new DatabaseError(
      "format-too-new",
      `${where}, this version knows ${known}. Update Sheaf`,
    )
    : new DatabaseError(
      "format-too-old",
      `${where}, which this version does not read any more. Export it with the version that wrote it`,
    );
}
