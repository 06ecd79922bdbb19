import { deepEqual } from "node:assert/strict";
import { allowance } from "./system.ts";

Deno.test("allowance() grants work up to a total, then none for good", () => {
  const isLittle = allowance(10);
  deepEqual([4, 6, 1, 0].map(isLittle), [true, true, false, false]);
});

Deno.test("allowance() does not grant one piece that is past it", () => {
  const isLittle = allowance(10);
  deepEqual([11, 1].map(isLittle), [false, false]);
});
