import { equal } from "node:assert/strict";
import {
  countOf,
  engineLabel,
  isOurs,
  showDigits,
  showSize,
  showValue,
} from "./show.ts";

Deno.test("showValue() takes the unit in which a figure is read most easily", () => {
  equal(showValue(0.00065, "ms"), "0.650 µs");
  equal(showValue(0.0123, "ms"), "12.3 µs");
  equal(showValue(0.9999, "ms"), "1.00 ms");
  equal(showValue(1_847, "ms"), "1.85 s");
  equal(showValue(0.00000005, "ms"), "0.000050 µs");
  equal(showValue(-0.002, "ms"), "-2.00 µs");
  equal(showValue(26_100_000, "B"), "26.1 MB");
  equal(showValue(12_345, "per s"), "12.3 k/s");
  equal(showValue(1, "trips"), "1.00 trips");
  equal(showValue(0, "ms"), "0 ms");
  equal(showValue(null, "ms"), "–");
});

Deno.test("showDigits() keeps three digits that count", () => {
  equal(showDigits(0.0001234), "0.000123");
  equal(showDigits(99.96), "100");
  equal(showDigits(12_345.6), "12,346");
});

Deno.test("engineLabel() names engines and their variants, and lets unknown ones be", () => {
  equal(engineLabel("sqlite-full"), "SQLite FULL");
  equal(engineLabel("yjs-log"), "Yjs, log");
  equal(engineLabel("sheaf-default-opfs"), "Sheaf Default, opfs");
  equal(engineLabel("constructor"), "constructor");
  equal(engineLabel("some-thing"), "some, thing");
  equal(isOurs("sheaf-fast"), true);
  equal(isOurs("sheafish"), false);
});

Deno.test("showSize() and countOf() speak as people do", () => {
  equal(showSize(100_000), "100k");
  equal(showSize(1_500_000), "1.5M");
  equal(showSize(1_500), "1,500");
  equal(countOf(1, "row"), "1 row");
  equal(countOf(2, "entry", "entries"), "2 entries");
});
