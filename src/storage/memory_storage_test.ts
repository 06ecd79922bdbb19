import assert from "node:assert/strict";
import fc from "fast-check";
import { memoryStorage } from "./memory_storage.ts";

const step = fc.record({
  what: fc.constantFrom("write", "truncate"),
  at: fc.nat(60),
  bytes: fc.uint8Array({ maxLength: 30 }),
});

/** What a file is after a step, the slow way. */
function modelOf(
  file: Uint8Array,
  { what, at, bytes }: { what: string; at: number; bytes: Uint8Array },
): Uint8Array {
  const end = at + bytes.length;
  const length = what === "truncate" ? at : Math.max(file.length, end);
  const next = new Uint8Array(length);
  next.set(file.subarray(0, length));
  if (what === "write") next.set(bytes, at);
  return next;
}

Deno.test("memoryStorage() keeps a file as it was written, and the bytes that it was given", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 40 }),
      fc.array(step, { maxLength: 12 }),
      fc.nat(70),
      fc.nat(70),
      (given, steps, from, length) => {
        const before = given.slice();
        const file = memoryStorage([["a", given]]).open("a")!;
        let model: Uint8Array = before;
        for (const one of steps) {
          if (one.what === "truncate") file.truncate(one.at);
          else file.writeAt(one.bytes, one.at);
          model = modelOf(model, one);
          assert.equal(file.size(), model.length);
          const target = new Uint8Array(length);
          const count = file.readAt(target, from);
          const wanted = model.subarray(from, from + length);
          assert.deepEqual(target.subarray(0, count), wanted);
        }
        assert.deepEqual(given, before);
      },
    ),
    { seed: 7 },
  );
});
