import { deepEqual, equal, throws } from "node:assert/strict";
import { limits } from "../base/limits.ts";
import { addTerm, type OrderTerm } from "./order.ts";

const fields = new Map(
  Array.from({ length: limits.fieldsMax + 1 }, (_, i) => [`f${i}`, "number"]),
) as Parameters<typeof addTerm>[1];

Deno.test("addTerm() leaves an order alone that has the field already, whichever way", () => {
  const first = addTerm([], fields, "f1", "desc");
  deepEqual(first, [{ field: "f1", descending: true }]);
  equal(addTerm(first, fields, "f1", "asc"), first);
  const second = addTerm(first, fields, "f2", "asc");
  deepEqual(second, [...first, { field: "f2", descending: false }]);
  equal(addTerm(second, fields, "f2", "desc"), second);
});

Deno.test("addTerm() takes so many fields as a collection may have, and no more", () => {
  let order: readonly OrderTerm[] = [];
  for (let i = 0; i < limits.fieldsMax; i++) {
    order = addTerm(order, fields, `f${i}`, "asc");
  }
  equal(order.length, limits.fieldsMax);
  throws(() => addTerm(order, fields, `f${limits.fieldsMax}`, "asc"), {
    code: "invalid-query",
  });
});
