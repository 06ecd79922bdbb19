import { deepEqual, equal, throws } from "node:assert/strict";
import { figuresOf, percentile } from "./stats.ts";

Deno.test("percentile() lies between neighbours in proportion", () => {
  equal(percentile([10], 0.99), 10);
  equal(percentile([1, 2, 3, 4], 0.5), 2.5);
  equal(percentile([0, 100], 0.75), 75);
  equal(percentile([1, 2, 3], 1), 3);
  throws(() => percentile([], 0.5), RangeError);
});

Deno.test("figuresOf() sorts a copy and leaves the samples alone", () => {
  const samples = [5, 1, 4, 2, 3];
  const figures = figuresOf(samples);
  deepEqual(samples, [5, 1, 4, 2, 3]);
  equal(figures.median, 3);
  equal(figures.p75, 4);
  equal(figures.samples, 5);
});

Deno.test("figuresOf() shows the tail in p99 and p995, not in the median", () => {
  const samples = Array.from({ length: 1_000 }, (_, at) => at < 990 ? 1 : 100);
  const figures = figuresOf(samples);
  equal(figures.median, 1);
  equal(figures.p75, 1);
  equal(figures.p995, 100);
});
