import { deepEqual, equal, match } from "node:assert/strict";
import { distributionPoints } from "./figure.ts";
import { fixtureCase } from "./fixture_suite.ts";
import { mergeTurns, spreadOf, statisticsOf, thirdsOf } from "./merge.ts";
import type { Outcome } from "./suite.ts";

const three = fixtureCase({ repetitions: 3 });
const ms = (...samples: number[]): Outcome => ({ unit: "ms", samples });

Deno.test("mergeTurns() pools the samples and takes the spread of the repetitions' medians", () => {
  const [figure] = mergeTurns({
    spec: three,
    repetitions: [[ms(1, 2, 3)], [ms(4, 4, 4)], [ms(1, 1, 10)]],
  });
  equal(figure?.median, 3);
  equal(figure?.max, 10);
  equal(figure?.samples, 9);
  equal(figure?.repetitions, 3);
  equal(figure?.spread, 1.5);
  equal(figure?.beside.mean, 30 / 9);
});

Deno.test("mergeTurns() makes a figure of each row that the outcomes name", () => {
  const figures = mergeTurns({
    spec: fixtureCase({ repetitions: 1, durability: "fsync" }),
    repetitions: [[
      { ...ms(1), operation: "read", durability: "none" },
      { ...ms(2), table: "Other" },
      { unit: "per s", samples: [9], operation: "rate" },
    ]],
  });
  deepEqual(
    figures.map((one) => [
      one.table,
      one.operation,
      one.durability,
      one.isMoreBetter,
    ]),
    [
      ["Counting", "read", "none", false],
      ["Other", "to ten", "fsync", false],
      ["Counting", "rate", "fsync", true],
    ],
  );
});

Deno.test("one wrong repetition makes the figure wrong, one that lacks the row or has no number makes it failed", () => {
  const merged = (...repetitions: Outcome[][]) =>
    mergeTurns({ spec: three, repetitions })[0];
  const wrong = merged([ms(1)], [{ ...ms(1), wrong: "no" }], [ms(1)]);
  equal(wrong?.wrong, "no");
  equal(wrong?.failed, undefined);
  const short = merged([ms(1)], [ms(1)], []);
  equal(short?.failed, "2 of 3 repetitions gave this row");
  equal(short?.median, null);
  match(merged([ms(1)], [ms(NaN)], [ms(1)])?.failed ?? "", /no number/);
  match(merged([ms(1)], [ms()], [ms(1)])?.failed ?? "", /missing/);
  const mixed = merged([ms(1)], [{ unit: "B", samples: [1] }], [ms(1)]);
  match(mixed?.failed ?? "", /unit/);
  const none = merged([], [], []);
  match(none?.failed ?? "", /no outcome/);
});

Deno.test("a case that broke or was skipped midway keeps no number", () => {
  for (const why of ["failed", "skipped"] as const) {
    const [figure] = mergeTurns({
      spec: three,
      repetitions: [[ms(1)], [ms(2)], [ms(3)]],
      [why]: "because",
    });
    equal(figure?.[why], "because");
    deepEqual([figure?.median, figure?.max, figure?.samples], [null, null, 0]);
    deepEqual(figure?.beside, {});
  }
});

Deno.test("who is not here is skipped, and has not failed", () => {
  const figures = mergeTurns({
    spec: three,
    repetitions: [],
    skipped: "no address",
  });
  deepEqual(
    figures.map(({ skipped, failed, median }) => [skipped, failed, median]),
    [["no address", undefined, null]],
  );
});

Deno.test("what stands beside is the middle of the repetitions, and of memory the greatest", () => {
  const besides = [[1, 50], [3, 90], [2, 70]].map(([perSecond, peak]) => [
    { ...ms(1), beside: { perSecond: perSecond ?? 0, peakBytes: peak ?? 0 } },
  ]);
  const [figure] = mergeTurns({ spec: three, repetitions: besides });
  equal(figure?.beside.perSecond, 2);
  equal(figure?.beside.peakBytes, 90);
});

Deno.test("statisticsOf() says no percentile that no sample stands for", () => {
  const of = (count: number, isMoreBetter = false) =>
    statisticsOf([Array.from({ length: count }, (_, at) => at)], isMoreBetter);
  deepEqual([of(3).p75, of(19).p99, of(39).p995], [null, null, null]);
  deepEqual([of(5).p75, of(101).p99, of(201).p995], [3, 99, 199]);
  equal(of(201, true).p99, null);
  deepEqual(of(25).distribution, []);
  equal(of(101).distribution.length, distributionPoints.length);
  equal(of(101).distribution.at(-1), 100);
  deepEqual([of(0).median, of(0).max, of(0).spread], [null, null, null]);
});

Deno.test("statisticsOf() takes a million samples in its stride", () => {
  const many = Array.from({ length: 300_000 }, (_, at) => at);
  equal(statisticsOf([many, many, many]).median, 149_999.5);
});

Deno.test("spreadOf() is null for one repetition, and thirdsOf() makes three of a long one", () => {
  equal(spreadOf([[1, 2]]), null);
  equal(spreadOf([[0], [0]]), 0);
  deepEqual(thirdsOf([1, 2, 3, 4, 5, 6, 7]), [[1, 2], [3, 4, 5], [6, 7]]);
  deepEqual(thirdsOf([1, 2]), [[1], [2]]);
});
