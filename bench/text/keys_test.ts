import { deepEqual, equal, ok } from "node:assert/strict";
import { keysOf } from "./keys.ts";

Deno.test("keysOf() gives the same strokes again, each within the text", () => {
  const keys = keysOf(20_000);
  equal(keys.length, 20_000);
  deepEqual(keysOf(20_000), keys);
  let length = 0;
  for (const { at, delete: gone, insert } of keys) {
    ok(at >= 0 && at + gone <= length, `${at} of ${length}`);
    length += insert.length - gone;
  }
  const typed = keys.filter(({ insert }) => insert.length === 1).length;
  ok(
    typed > keys.length / 2 && length > keys.length / 5,
    `${typed}, ${length}`,
  );
});
