import assert from "node:assert/strict";
import fc from "fast-check";
import { anyCharacter } from "../../tests/kit/any_text.ts";
import { sized } from "../../tests/kit/tier.ts";
import { escapeControls, escapeJson } from "./output.ts";

const steering = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\u200b]/u;

Deno.test("escapeControls() shows line breaks, escapes and bidirectional marks", () => {
  assert.equal(escapeControls("a\nb\tc\r"), "a\\nb\\tc\\r");
  assert.equal(escapeControls("\x1b[2Jx\x9b31m"), "\\u001b[2Jx\\u009b31m");
  assert.equal(escapeControls("user\u202egpj.exe"), "user\\u202egpj.exe");
  assert.equal(escapeControls("\u{e0041}"), "\\u{e0041}");
  assert.equal(escapeControls("lone \ud800!"), "lone \\ud800!");
});

Deno.test("escapeControls() leaves ordinary text of any language alone", () => {
  for (const text of ["Sant Julià de Lòria", "東京", "می‌خواهم", "👩‍🚀", "µ"]) {
    assert.equal(escapeControls(text), text);
  }
});

Deno.test("escapeControls() lets nothing through that steers a terminal", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      assert.ok(!steering.test(escapeControls(text)));
    }),
    { seed: 7, numRuns: sized(80, 500) },
  );
});

Deno.test("escapeJson() keeps the value and lets nothing through that steers", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
      const escaped = escapeJson(JSON.stringify(value));
      assert.ok(!steering.test(escaped));
      const expected: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(escaped), expected);
    }),
    { seed: 7, numRuns: sized(80, 500) },
  );
});
