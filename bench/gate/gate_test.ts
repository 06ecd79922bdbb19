import { deepEqual, equal, match, ok, throws } from "node:assert/strict";
import type { Figure } from "../harness/figure.ts";
import { percentile } from "../harness/stats.ts";
import { seededRandom } from "../../tests/kit/random.ts";
import { someFigure } from "../report/fixtures.ts";
import { type Baseline, formatBaseline, parseBaseline } from "./baseline.ts";
import { type Course, courses, type Watched, watchedOf } from "./choice.ts";
import {
  type GateOrder,
  gateText,
  isOpen,
  type Measure,
  runGate,
  takeMarks,
} from "./gate.ts";

const watched: Watched = {
  suite: "kv",
  table: "One at a time",
  operation: "get",
  size: 10_000,
  engine: "sheaf-default",
  rival: "sqlite-full",
};
const course: Course = {
  suite: "kv",
  size: 10_000,
  filter: "",
  rows: [watched],
};
const other: Course = {
  ...course,
  rows: [{ ...watched, operation: "exists" }],
};
const baselineOf = (ratio: number, noise = 1.05): Baseline => ({
  format: 1,
  commit: "abc1234",
  date: "2026-01-02",
  machine: "One, 2 cores",
  marks: [{ ...watched, ratio, noise }],
});
const baselineOfBoth: Baseline = {
  ...baselineOf(0.5),
  marks: watchedOf([course, other]).map((row) => ({
    ...row,
    ratio: 0.5,
    noise: 1.05,
  })),
};
const gate = (
  baseline: Baseline,
  courses: readonly Course[],
  measure: Measure,
  more: Pick<GateOrder, "hasTime" | "machine" | "isOnDisk"> = {},
) => runGate({ baseline, courses, measure, ...more });
const figures = (ours: Partial<Figure>, rival: Partial<Figure> = {}) => [
  someFigure({ median: 1, spread: 0, ...ours }),
  someFigure({ engine: "sqlite-full", median: 2, spread: 0, ...rival }),
];
/** Gives one answer after the other, and counts what was asked. */
function replay(...answers: readonly (readonly Figure[] | "late")[]) {
  const asked: Course[] = [];
  const measure: Measure = (one) => {
    asked.push(one);
    return Promise.resolve(answers[asked.length - 1] ?? answers.at(-1) ?? []);
  };
  return { asked, measure };
}

Deno.test("runGate() is open while ratios hold, however slow the machine is", async () => {
  const { asked, measure } = replay(figures({ median: 7 }, { median: 14 }));
  const results = await gate(baselineOf(0.5), [course], measure);
  ok(isOpen(results));
  equal(asked.length, 1);
  match(gateText(results).join("\n"), /1 of 1 rows are as they were\./);
});

Deno.test("runGate() is closed by a row that stays worse by more than a quarter and the noise", async () => {
  const { asked, measure } = replay(figures({ median: 1.4 }));
  const results = await gate(baselineOf(0.5), [course], measure);
  equal(isOpen(results), false);
  equal(asked.length, 3);
  ok(asked.every((one) => one === course));
  match(
    gateText(results)[0] ?? "",
    /WORSE kv: One at a time, get, 10000: sheaf-default by sqlite-full: \+40 %/,
  );
});

Deno.test("runGate() lets a quarter pass, and the noise of either run on top of it", async () => {
  const isPassed = async (median: number, spread: number, noise: number) =>
    isOpen(
      await gate(
        baselineOf(0.5, noise),
        [course],
        replay(figures({ median, spread }, { spread })).measure,
      ),
    );
  equal(await isPassed(1.29, 0, 1.05), true);
  equal(await isPassed(1.31, 0, 1.05), false);
  equal(await isPassed(1.31, 0.2, 1.05), true);
  equal(await isPassed(1.31, 0, 1.2), true);
  // Whatever the noise, twice as slow is twice as slow.
  equal(await isPassed(2, 9, 1.5), false);
});

Deno.test("runGate() holds another processor against limits twice as wide", async () => {
  const isPassed = async (median: number, machine: string) => {
    const { measure } = replay(figures({ median }));
    return isOpen(
      await gate(baselineOf(0.5), [course], measure, { machine }),
    );
  };
  equal(await isPassed(2, "One, 2 cores"), false);
  equal(await isPassed(2, "Other, 2 cores"), true);
  equal(await isPassed(2.7, "Other, 2 cores"), false);
});

Deno.test("runGate() forgives a row that was worse only once, and says so", async () => {
  const { asked, measure } = replay(figures({ median: 3 }), figures({}));
  const results = await gate(baselineOf(0.5), [course], measure);
  ok(isOpen(results));
  equal(asked.length, 2);
  match(gateText(results).join(), /1 of them only when measured again/);
});

Deno.test("runGate() holds writes that are gathered only against much worse, and not on a disk", async () => {
  const gathered: Course = {
    ...course,
    rows: [{ ...watched, isGathered: true }],
  };
  const { asked, measure } = replay(figures({ median: 99 }));
  const wide: Course = { ...course, rows: [{ ...watched, isWide: true }] };
  const far = replay(figures({ median: 2.9 }));
  ok(isOpen(await gate(baselineOf(0.5), [wide], far.measure)));
  const more = { isOnDisk: true };
  const onDisk = await gate(baselineOf(0.5), [gathered], measure, more);
  equal(asked.length, 0);
  match(gateText(onDisk).join(), /UNHELD .* no folder in memory/);
  const reads = await gate(baselineOf(0.5), [course], measure, more);
  equal(reads[0]?.finding.is, "worse", "other rows are held everywhere");
  const isPassed = async (median: number) =>
    isOpen(
      await gate(
        baselineOf(0.5),
        [gathered],
        replay(figures({ median })).measure,
      ),
    );
  equal(await isPassed(2.9), true);
  equal(await isPassed(3.2), false);
});

Deno.test("runGate() accuses nobody when its time is up, and says so", async () => {
  const { asked, measure } = replay(figures({ median: 3 }));
  const hasTime = () => asked.length === 0;
  const results = await gate(baselineOfBoth, [course, other], measure, {
    hasTime,
  });
  equal(asked.length, 1);
  deepEqual(results.map(({ finding }) => finding.is), ["unheld", "unheld"]);
  match(gateText(results).join(), /looked worse.*no time was left to measure/s);
  equal(isOpen(results), false, "nothing at all was compared");
});

Deno.test("runGate() accuses nobody of a course that was ended, the first time or again", async () => {
  const first = replay("late", "late");
  const none = await gate(baselineOf(0.5), [course], first.measure);
  deepEqual(none.map(({ finding }) => finding.is), ["unheld"]);
  equal(first.asked.length, 1, "what took too long is not tried again");
  const second = replay(figures({ median: 3 }), "late");
  const worse = await gate(baselineOf(0.5), [course], second.measure);
  match(
    gateText(worse).join(),
    /UNHELD .* no time was left to measure it again/,
  );
  const wrong = replay(figures({ wrong: "3, not 4" }), "late");
  const broken = await gate(baselineOf(0.5), [course], wrong.measure);
  equal(broken[0]?.finding.is, "broken", "a wrong answer is no matter of time");
});

Deno.test("runGate() measures everything once before it measures anything again", async () => {
  const both = [
    ...figures({ median: 3 }),
    ...figures({ median: 3 })
      .map((figure) => ({ ...figure, operation: "exists" })),
  ];
  const { asked, measure } = replay(both);
  const results = await gate(baselineOfBoth, [course, other], measure);
  deepEqual(asked, [course, other, course, other, course, other]);
  deepEqual(results.map(({ tries }) => tries), [3, 3]);
});

Deno.test("runGate() holds what is counted against itself, on every machine alike", async () => {
  const { rival: _, ...counted } = watched;
  const alone = { ...course, rows: [counted] };
  const baseline: Baseline = {
    ...baselineOf(1),
    marks: [{ ...counted, ratio: 576, noise: 1 }],
  };
  deepEqual(parseBaseline(formatBaseline(baseline)), baseline);
  const isPassed = async (median: number, machine: string) => {
    const measured = [someFigure({ median, unit: "B", spread: 0 })];
    const { measure } = replay(measured);
    return isOpen(await gate(baseline, [alone], measure, { machine }));
  };
  equal(await isPassed(700, "One, 2 cores"), true);
  equal(await isPassed(760, "One, 2 cores"), false);
  equal(await isPassed(760, "Other, 2 cores"), false);
});

Deno.test("runGate() turns rates round", async () => {
  const rate = { unit: "per s", isMoreBetter: true } as const;
  const slow = replay(figures({ ...rate, median: 1 }, { ...rate, median: 2 }));
  const results = await gate(baselineOf(1), [course], slow.measure);
  equal(results[0]?.finding.is, "worse");
  const quick = replay(figures({ ...rate, median: 4 }, { ...rate, median: 2 }));
  const better = await gate(baselineOf(1), [course], quick.measure);
  equal(better[0]?.finding.is, "better");
  ok(isOpen(better));
  match(gateText(better)[0] ?? "", /BETTER .*−50 %/);
});

Deno.test("runGate() is closed by a wrong answer, a failure, and a row that is gone", async () => {
  const wrong = { wrong: "3 values, not 4" };
  for (const bad of [figures(wrong), figures({ failed: "ended with 1" }), []]) {
    const results = await gate(
      baselineOf(0.5),
      [course],
      replay(bad).measure,
    );
    equal(results[0]?.finding.is, "broken");
    equal(isOpen(results), false);
  }
});

Deno.test("runGate() is not open where no rival answered at all", async () => {
  const { measure } = replay(
    figures({}, { skipped: "not here", median: null }),
  );
  const results = await gate(baselineOf(0.5), [course], measure);
  equal(results[0]?.finding.is, "unheld");
  equal(isOpen(results), false);
});

Deno.test("runGate() is closed by rows without a mark, and by marks without a row", async () => {
  const { measure } = replay(figures({}));
  const empty = { ...baselineOf(1), marks: [] };
  equal(isOpen(await gate(empty, [course], measure)), false);
  equal(isOpen(await gate(baselineOf(0.5), [], measure)), false);
});

Deno.test("a row that got slower than its own marks closes the gate on a noisy machine, and one that did not leaves it open", async () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = seededRandom(seed);
    const marks = await takeMarks([course], measureNoisily(1, random));
    deepEqual(marks.missing, []);
    const baseline = { ...baselineOf(1), marks: marks.marks };
    const same = await gate(baseline, [course], measureNoisily(1, random));
    ok(isOpen(same), `seed ${seed}`);
    const slowed = await gate(baseline, [course], measureNoisily(3, random));
    equal(slowed[0]?.finding.is, "worse", `seed ${seed}`);
    equal(isOpen(slowed), false);
  }
});

Deno.test("takeMarks() takes the middle of three runs, and how far they lay apart", async () => {
  const medians = [0.8, 2, 1];
  const measure =
    replay(...medians.map((median) => figures({ median }))).measure;
  const { marks } = await takeMarks([course], measure);
  equal(marks[0]?.ratio, 0.5);
  equal(marks[0]?.noise, 1.5);
  const steady = await takeMarks([course], replay(figures({})).measure);
  equal(steady.marks[0]?.noise, 1.05);
  const wrong = replay(figures({}), figures({ wrong: "no" }));
  deepEqual((await takeMarks([course], wrong.measure)).marks, []);
  const late = await takeMarks([course], replay(figures({}), "late").measure);
  deepEqual(late.marks, []);
  match(late.missing.join(), /no time was left/);
});

Deno.test("parseBaseline() reads what formatBaseline() wrote, and refuses the rest", () => {
  const baseline = baselineOf(0.5);
  deepEqual(parseBaseline(formatBaseline(baseline)), baseline);
  const [mark] = baseline.marks;
  for (
    const bad of [
      "{",
      "{}",
      JSON.stringify({ ...baseline, format: 2 }),
      JSON.stringify({ ...baseline, commit: 1 }),
      JSON.stringify({ ...baseline, marks: [{ ...mark, ratio: -1 }] }),
      JSON.stringify({ ...baseline, marks: [{ ...mark, noise: "1" }] }),
      JSON.stringify({ ...baseline, marks: [null] }),
    ]
  ) {
    throws(() => parseBaseline(bad), SyntaxError, bad);
  }
});

Deno.test("the stored baseline has a mark for every row that is watched, and no other", () => {
  const text = Deno.readTextFileSync(new URL("baseline.json", import.meta.url));
  const rowsOf = (rows: readonly Watched[]) =>
    rows.map(({ suite, table, operation, size, engine, rival }) =>
      [suite, table, operation, size, engine, rival].join()
    ).sort();
  deepEqual(rowsOf(parseBaseline(text).marks), rowsOf(watchedOf(courses)));
});

/**
 * Draws times as a machine gives them that is busy now and then: ours does the
 * work so many times, the rival once.
 */
function measureNoisily(slowness: number, random: () => number): Measure {
  const medianOf = (times: number) => {
    const samples = Array.from({ length: 60 }, () => {
      const isDisturbed = random() < 0.1;
      return times * (1 + random() / 5 + (isDisturbed ? 5 * random() : 0));
    });
    return percentile(samples.sort((a, b) => a - b), 0.5);
  };
  return () => {
    const [ours, rival] = [medianOf(slowness), medianOf(1)];
    const spread = 0.1;
    return Promise.resolve(
      figures({ median: ours, spread }, { median: rival, spread }),
    );
  };
}
