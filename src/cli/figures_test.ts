import assert from "node:assert/strict";
import {
  formatAmount,
  formatBytes,
  formatCount,
  formatDuration,
  formatMoment,
} from "./figures.ts";

Deno.test("formatCount() and formatAmount() group digits and know the plural", () => {
  assert.equal(formatCount(171075), "171,075");
  assert.equal(formatAmount(1, "city", "cities"), "1 city");
  assert.equal(formatAmount(0, "row"), "0 rows");
});

Deno.test("formatBytes() never shows a four-digit figure", () => {
  assert.equal(formatBytes(999), "999 B");
  assert.equal(formatBytes(1000), "1.0 KB");
  assert.equal(formatBytes(999_960), "1.0 MB");
  assert.equal(formatBytes(17_142_887), "17.1 MB");
});

Deno.test("formatDuration() keeps three digits that matter", () => {
  assert.equal(formatDuration(0.084), "0.08 ms");
  assert.equal(formatDuration(12.44), "12.4 ms");
  assert.equal(formatDuration(99.97), "100 ms");
  assert.equal(formatDuration(999.7), "1.00 s");
  assert.equal(formatDuration(59_999), "1 min 00 s");
  assert.equal(formatDuration(125_400), "2 min 05 s");
});

Deno.test("formatMoment() is the same in every time zone", () => {
  const at = new Date(Date.UTC(2026, 10, 20, 14, 5, 9, 123));
  assert.equal(formatMoment(at), "2026-11-20 14:05:09.123 UTC");
});
