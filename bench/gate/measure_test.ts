import { deepEqual, ok } from "node:assert/strict";
import { loadSuite, suiteModules } from "../harness/case_child.ts";
import type { Suite } from "../harness/suite.ts";
import { type Course, courses, enginesOf } from "./choice.ts";
import { narrowed, orderOf } from "./measure.ts";

const course: Course = {
  suite: "stress",
  size: 1_000,
  filter: "",
  cases: ["batch, 1000"],
  rows: [{
    suite: "stress",
    table: "players",
    operation: "save one",
    size: 1_000,
    engine: "sheaf-fast",
    rival: "sqlite-off",
  }],
};

async function suiteOf({ suite }: Course): Promise<Suite | undefined> {
  return suite === "sqlite" || suite === "sync"
    ? undefined
    : await loadSuite(suiteModules[suite]);
}

Deno.test("narrowed() leaves the named cases of the engines that are meant, and of no others", async () => {
  const suite = narrowed(await loadSuite(suiteModules.stress), course);
  deepEqual(
    suite.cases(orderOf(course)).map(({ name, engine }) => [name, engine]),
    [["batch, 1000", "sheaf-fast"], ["batch, 1000", "sqlite-off"]],
  );
  const whole: Course = { ...course, rows: course.rows };
  const { cases: _, ...unnamed } = whole;
  const all = narrowed(await loadSuite(suiteModules.stress), unnamed);
  ok(all.cases(orderOf(unnamed)).length > 2);
});

Deno.test("every course has a case of each of its engines", async () => {
  for (const one of courses) {
    const suite = await suiteOf(one);
    if (suite === undefined) continue;
    const found = narrowed(suite, one).cases(orderOf(one));
    const engines = new Set(found.map(({ engine }) => engine));
    deepEqual([...engines].sort(), enginesOf(one).sort(), one.filter);
  }
});
