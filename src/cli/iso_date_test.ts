import assert from "node:assert/strict";
import fc from "fast-check";
import { parseIsoDate } from "./iso_date.ts";

Deno.test("parseIsoDate() reads days and times with a zone", () => {
  for (
    const [text, iso] of [
      ["2026-11-20", "2026-11-20T00:00:00.000Z"],
      ["2026-11-20T14:05Z", "2026-11-20T14:05:00.000Z"],
      ["2026-11-20T14:05:09+02:00", "2026-11-20T12:05:09.000Z"],
      ["2024-02-29", "2024-02-29T00:00:00.000Z"],
      ["0050-01-01", "0050-01-01T00:00:00.000Z"],
    ] as const
  ) assert.equal(parseIsoDate(text)?.toISOString(), iso, text);
});

Deno.test("parseIsoDate() refuses what depends on the machine or is no day", () => {
  for (
    const text of [
      "2026-11-20T14:05",
      "2026-02-30",
      "2023-02-29",
      "2026-13-01",
      "2026-11-20T25:00Z",
      "2026-11-20T14:05:09.123456Z",
      "20 Nov 2026",
      "2026",
      "1",
      "",
      "2026-11-20 14:05Z",
    ]
  ) assert.equal(parseIsoDate(text), undefined, text);
});

Deno.test("parseIsoDate() reads every date that toISOString() writes", () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      assert.deepEqual(parseIsoDate(date.toISOString()), date);
    }),
    { seed: 7, numRuns: 500 },
  );
});
