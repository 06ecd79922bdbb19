/**
 * The list of deliberate bugs does not rot.
 *
 * @module
 */

import { deepEqual, notEqual, ok, throws } from "node:assert/strict";
import { join } from "node:path";
import { checkout } from "../sandbox.ts";
import { applyBug, type Bug } from "./bug.ts";
import { bugs } from "./list.ts";

const textOf = (file: string) => Deno.readTextFileSync(join(checkout, file));

Deno.test("every bug of the list can still be made, and has a name and a sentence of its own", () => {
  for (const bug of bugs) {
    const text = textOf(bug.file);
    notEqual(applyBug(bug, text), text, bug.name);
  }
  for (const key of ["name", "breaks"] as const) {
    const all = bugs.map((bug) => bug[key]);
    deepEqual(all, [...new Set(all)]);
  }
});

Deno.test("every bug of the list names test files that are there", () => {
  for (const { name, foundBy } of bugs) {
    ok(foundBy.length > 0, name);
    for (const file of foundBy) textOf(file);
  }
});

Deno.test("applyBug() refuses a bug whose text is gone, or stands twice", () => {
  const bug: Bug = {
    name: "example",
    breaks: "Nothing",
    file: "example.ts",
    before: "a + b",
    after: "a - b",
    foundBy: [],
  };
  deepEqual(applyBug(bug, "x = a + b;"), "x = a - b;");
  throws(() => applyBug(bug, "x = b + a;"), /stands 0 times in example.ts/);
  throws(() => applyBug(bug, "a + b; a + b"), /stands 2 times/);
});
