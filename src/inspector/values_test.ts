import { deepEqual, equal, throws } from "node:assert/strict";
import type { FieldKind } from "../schema/patch.ts";
import { textOf, valueOf } from "./values.ts";

const at = new Date("2026-11-24T08:00:00.000Z");

Deno.test("valueOf() gives back what textOf() shows, of every kind", () => {
  const values: readonly [FieldKind, unknown, FieldKind?][] = [
    ["string", ' "quoted" '],
    ["text", ""],
    ["number", -1.5],
    ["counter", 7],
    ["boolean", false],
    ["date", at],
    ["bytes", Uint8Array.of(0, 255)],
    ["enum", "lead"],
    ["ref", "card-1"],
    ["json", { a: [1, null, "1"] }],
    ["json", "text"],
    ["set", ["1", "2"], "string"],
    ["set", [1, 2], "number"],
    ["map", { a: Uint8Array.of(1) }, "bytes"],
    ["list", [at], "date"],
  ];
  for (const [kind, value, element] of values) {
    const field = { kind, inner: element && { kind: element } };
    deepEqual(valueOf(textOf(value, field), field), value, kind);
  }
});

Deno.test("valueOf() takes nothing for absent, but for strings", () => {
  equal(valueOf(" ", { kind: "number" }), undefined);
  equal(valueOf("", { kind: "ref" }), undefined);
  equal(valueOf("", { kind: "string" }), "");
});

Deno.test("valueOf() says of what is no JSON or no bytes that it is none", () => {
  throws(() => valueOf("{", { kind: "json" }), /This is not JSON/);
  throws(() => valueOf("0g", { kind: "bytes" }), SyntaxError);
});
