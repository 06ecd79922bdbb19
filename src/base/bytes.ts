/**
 * Bytes: comparing, joining, hexadecimal, and the growable writer and bounded
 * reader that every binary format of Sheaf is built from.
 *
 * Integers are little-endian; `varint` is LEB128, at most 53 bits, in as few
 * bytes as it takes. A reader never looks past its end: running out is a
 * `SyntaxError`, the one error that decoders throw on foreign bytes.
 */

import { native } from "./system.ts";

const encoder = new TextEncoder();
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const latin1 = new TextDecoder("latin1");

/** Below this many characters a loop beats the encoder's call: measured, with its garbage. */
const SHORT_TEXT = 256;

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/** What a decoder makes of foreign bytes; `undefined` where they are not what it reads. */
export function readable<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function concatBytes(
  ...parts: readonly Uint8Array[]
): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function encodeText(text: string): Uint8Array {
  return encoder.encode(text);
}

export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new SyntaxError("Cannot decode text: it is not UTF-8");
  }
}

/**
 * One character per byte, so that offsets stay the same. Bytes below 0x80 are
 * themselves; others are unspecified and must not be used.
 */
export function decodeAscii(
  bytes: Uint8Array,
  start: number,
  end: number,
): string {
  if (native.latin1 !== undefined) return native.latin1(bytes, start, end);
  return latin1.decode(bytes.subarray(start, end));
}

/** Lower-case hexadecimal of bytes. */
export function toHex(bytes: Uint8Array): string {
  return "toHex" in bytes ? bytes.toHex() : portableHex(bytes);
}

/** {@linkcode toHex} where the platform does not do it. */
export function portableHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += (byte + 256).toString(16).slice(1);
  return text;
}

export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return "fromHex" in Uint8Array
    ? Uint8Array.fromHex(text)
    : portableFromHex(text);
}

/** {@linkcode fromHex} where the platform does not do it. */
export function portableFromHex(text: string): Uint8Array<ArrayBuffer> {
  const pairs = text.match(/[0-9a-f]{2}/gi) ?? [];
  if (pairs.length * 2 !== text.length) {
    throw new SyntaxError("Not hexadecimal");
  }
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}

/** Base64 of bytes, with its padding. */
export function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Base64 for addresses, without padding. */
export function toBase64url(bytes: Uint8Array): string {
  const url: Record<string, string> = { "+": "-", "/": "_", "=": "" };
  return toBase64(bytes).replace(/[+/=]/g, (char) => url[char]!);
}

/** Bytes of base64 in either alphabet; `SyntaxError` when it is none. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  let plain: string;
  try {
    plain = atob(text.replace(/[-_]/g, (char) => char === "-" ? "+" : "/"));
  } catch {
    throw new SyntaxError("Not base64");
  }
  return Uint8Array.from(plain, (char) => char.charCodeAt(0));
}

export class ByteWriter {
  #bytes: Uint8Array<ArrayBuffer>;
  #view: DataView;
  length = 0;

  constructor(capacity = 256) {
    this.#bytes = new Uint8Array(capacity);
    this.#view = new DataView(this.#bytes.buffer);
  }

  reserve(more: number): void {
    const need = this.length + more;
    if (need <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(need, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.length));
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }

  /** Forgets what was written and keeps the buffer. */
  clear(): void {
    this.length = 0;
  }

  /** The bytes written so far: a view that the next write may invalidate. */
  view(start = 0, end: number = this.length): Uint8Array<ArrayBuffer> {
    return this.#bytes.subarray(start, end);
  }

  copy(start = 0, end: number = this.length): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(start, end);
  }

  u8(value: number): void {
    this.reserve(1);
    this.#bytes[this.length++] = value;
  }

  u16(value: number): void {
    this.reserve(2);
    this.#view.setUint16(this.length, value, true);
    this.length += 2;
  }

  u32(value: number): void {
    this.reserve(4);
    this.#view.setUint32(this.length, value, true);
    this.length += 4;
  }

  /** Six bytes: an integer below 2^48. */
  u48(value: number): void {
    this.reserve(6);
    this.#view.setUint32(this.length, value >>> 0, true);
    this.#view.setUint16(this.length + 4, Math.floor(value / 2 ** 32), true);
    this.length += 6;
  }

  f64(value: number): void {
    this.reserve(8);
    this.#view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A whole number from 0 to 2^53 - 1 as LEB128. */
  varint(value: number): void {
    this.reserve(8);
    const bytes = this.#bytes;
    let rest = value;
    while (rest >= 0x80) {
      bytes[this.length++] = rest % 128 | 0x80;
      rest = rest < 2 ** 31 ? rest >>> 7 : Math.floor(rest / 128);
    }
    bytes[this.length++] = rest;
  }

  bytes(value: Uint8Array): void {
    this.reserve(value.length);
    this.#bytes.set(value, this.length);
    this.length += value.length;
  }

  /**
   * A string as [byte length * 2 + (1 when not plain ASCII)] varint and UTF-8
   * bytes, so that a reader may take ASCII text as it is.
   */
  text(value: string): void {
    const start = this.length;
    // For ASCII, which nearly all is, and for its length, which must not grow it anew.
    this.reserve(value.length + 8);
    const head = varintLength(value.length * 2);
    const end = this.#ascii(value, start + head);
    if (end >= 0) {
      this.varint(value.length * 2);
      this.length = end;
      return;
    }
    const bytes = encoder.encode(value);
    this.varint(bytes.length * 2 + 1);
    this.bytes(bytes);
  }

  /** Writes ASCII at `at`; -1 when `value` has any other character. */
  #ascii(value: string, at: number): number {
    if (value.length > SHORT_TEXT) {
      const end = at + value.length;
      const room = this.#bytes.subarray(at, end);
      // Text that is not ASCII is not read to its end: it takes more room.
      const { read } = encoder.encodeInto(value, room);
      return read === value.length ? end : -1;
    }
    const bytes = this.#bytes;
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i);
      if (unit >= 0x80) return -1;
      bytes[at + i] = unit;
    }
    return at + value.length;
  }
}

export function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 128)) length++;
  return length;
}

/** Longer strings seldom come again. */
const WORD_LENGTH_MAX = 16;
/** Strings that {@linkcode ByteReader.word} remembers. */
const WORDS = 4096;
const words: string[] = new Array(WORDS).fill("");

function isAsciiAt(
  text: string,
  bytes: Uint8Array,
  at: number,
  length: number,
): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i++) {
    if (text.charCodeAt(i) !== bytes[at + i]) return false;
  }
  return true;
}

/** Two forms of one number would be two names of one thing. */
function needless(): never {
  throw new SyntaxError("Cannot decode integer: it has needless bytes");
}

/** Reads values from bytes, never past their end. */
export class ByteReader {
  readonly bytes: Uint8Array;
  /** Where the next value starts. */
  at: number;
  /** Where reading must stop. */
  readonly end: number;
  /** Must parts of rich fields have the values that their writer gave them? Erased ones have none. */
  isWhole = false;
  readonly view: DataView;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get done(): boolean {
    return this.at >= this.end;
  }

  #take(length: number): number {
    const start = this.at;
    if (length > this.end - start) {
      throw new SyntaxError("Cannot decode: the bytes end too early");
    }
    this.at = start + length;
    return start;
  }

  u8(): number {
    const at = this.at;
    if (at >= this.end) this.#take(1);
    this.at = at + 1;
    return this.bytes[at]!;
  }

  u16(): number {
    return this.view.getUint16(this.#take(2), true);
  }

  u32(): number {
    return this.view.getUint32(this.#take(4), true);
  }

  u48(): number {
    const start = this.#take(6);
    const high = this.view.getUint16(start + 4, true);
    return high * 2 ** 32 + this.view.getUint32(start, true);
  }

  f64(): number {
    return this.view.getFloat64(this.#take(8), true);
  }

  /** A whole number from 0 to 2^53 - 1, which has one form. */
  varint(): number {
    const first = this.u8();
    if (first < 0x80) return first; // Nearly every one.
    let value = first & 0x7f;
    let scale = 128;
    for (let i = 1; i < 8; i++) {
      const byte = this.u8();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        if (byte === 0) needless();
        return value;
      }
      scale *= 128;
    }
    throw new SyntaxError("Cannot decode integer: it is over 53 bits");
  }

  /** The next `length` bytes: a view, not a copy. */
  take(length: number): Uint8Array {
    const start = this.#take(length);
    return this.bytes.subarray(start, start + length);
  }

  skip(length: number): void {
    this.#take(length);
  }

  text(): string {
    return this.#text(this.varint());
  }

  /**
   * A string as {@linkcode text} reads it. Short ones that come again are the
   * same string object: less to allocate, less to keep.
   */
  word(): string {
    const head = this.varint();
    if (head % 2 === 1 || head > WORD_LENGTH_MAX * 2) return this.#text(head);
    const { bytes, at } = this;
    const length = head / 2;
    this.#take(length);
    let hash = length;
    for (let i = 0; i < length; i++) {
      hash = Math.imul(hash, 31) + bytes[at + i]!;
    }
    const slot = hash & (WORDS - 1);
    const known = words[slot]!;
    if (isAsciiAt(known, bytes, at, length)) return known;
    this.at = at;
    return words[slot] = this.#asciiText(length);
  }

  #text(head: number): string {
    if (head % 2 === 0) return this.#asciiText(head / 2);
    const length = (head - 1) / 2;
    const start = this.#take(length);
    return decodeText(this.bytes.subarray(start, start + length));
  }

  #asciiText(length: number): string {
    const start = this.#take(length);
    return decodeAscii(this.bytes, start, start + length);
  }

  skipText(): void {
    const head = this.varint();
    this.#take(head % 2 === 0 ? head / 2 : (head - 1) / 2);
  }
}
