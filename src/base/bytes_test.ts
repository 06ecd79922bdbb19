import {
  deepStrictEqual as deepEqual,
  equal,
  throws,
} from "node:assert/strict";
import {
  ByteReader,
  ByteWriter,
  concatBytes,
  encodeText,
  fromBase64,
  fromHex,
  portableFromHex,
  portableHex,
  toBase64,
  toBase64url,
} from "./bytes.ts";

/** What text() must write, in plain steps. */
function textBytes(text: string): Uint8Array {
  const bytes = encodeText(text);
  const head = new ByteWriter();
  head.varint(bytes.length * 2 + (bytes.length === text.length ? 0 : 1));
  return concatBytes(head.copy(), bytes);
}

Deno.test("text() writes the same into a buffer of any size, whatever stands in it already", () => {
  for (const length of [0, 1, 2, 3, 8, 63, 64, 255, 256, 257, 300, 9_000]) {
    for (const odd of ["", "é", "€", "😀", "\ud800"]) {
      for (const at of odd === "" ? [0] : [0, length >> 1, length]) {
        const plain = "abcdefgh".repeat(length / 8 + 1).slice(0, length);
        const text = plain.slice(0, at) + odd + plain.slice(at);
        const wanted = concatBytes(Uint8Array.of(7), textBytes(text));
        for (const capacity of [0, 1, 2, 9, length, length + 1, 4 * length]) {
          const w = new ByteWriter(capacity);
          w.u8(7);
          w.text(text);
          deepEqual(w.copy(), wanted, `${length} and ${odd} at ${at}`);
          const r = new ByteReader(w.view(), 1);
          deepEqual([r.text(), r.done], [text.toWellFormed(), true]);
        }
      }
    }
  }
});

Deno.test("portableHex() and portableFromHex() do what the platform's do", () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  for (const bytes of [new Uint8Array(0), all, all.subarray(3, 4)]) {
    const text = bytes.toHex();
    deepEqual(portableHex(bytes), text);
    deepEqual(portableFromHex(text), bytes);
    deepEqual(portableFromHex(text.toUpperCase()), bytes);
  }
  for (const odd of ["a", "abc", "0x", "zz", " 00", "00\n", "é0"]) {
    for (const decode of [fromHex, portableFromHex]) {
      throws(() => decode(odd), SyntaxError, JSON.stringify(odd));
    }
  }
});

Deno.test("toBase64() and fromBase64() do what the platform's do", () => {
  const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const alphabet = "base64url";
  for (let length = 0; length < 256; length++) {
    const bytes = all.subarray(256 - length);
    deepEqual(toBase64(bytes), bytes.toBase64());
    const url = bytes.toBase64({ alphabet, omitPadding: true });
    deepEqual(toBase64url(bytes), url);
    for (const text of [url, bytes.toBase64()]) {
      deepEqual(fromBase64(text), bytes);
    }
  }
  for (const odd of ["a", "a*==", "é", "====", "QQ=Q"]) {
    throws(() => fromBase64(odd), SyntaxError, odd);
  }
});

Deno.test("varint() takes a number in as few bytes as it needs, and in no more", () => {
  const read = (...bytes: number[]) =>
    new ByteReader(Uint8Array.from(bytes)).varint();
  equal(read(0), 0);
  equal(read(0x7f), 0x7f);
  equal(read(0x80, 1), 0x80);
  for (const needless of [[0x80, 0], [0xff, 0], [0x80, 0x81, 0]]) {
    throws(() => read(...needless), SyntaxError);
  }
});
