import { deepStrictEqual as deepEqual } from "node:assert/strict";
import { ByteReader, ByteWriter, concatBytes, encodeText } from "./bytes.ts";

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
