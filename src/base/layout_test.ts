import { equal, throws } from "node:assert/strict";
import { ByteReader } from "./bytes.ts";
import { readCount } from "./layout.ts";

const read = (...bytes: number[]) =>
  readCount(new ByteReader(Uint8Array.from(bytes)));

Deno.test("readCount() takes a number in as few bytes as it needs, and in no more", () => {
  equal(read(0), 0);
  equal(read(0x7f), 0x7f);
  equal(read(0x80, 1), 0x80);
  for (const needless of [[0x80, 0], [0xff, 0], [0x80, 0x81, 0]]) {
    throws(() => read(...needless), SyntaxError);
  }
});
