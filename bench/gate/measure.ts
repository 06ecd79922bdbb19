/**
 * One course in a process of its own: cases of the bench as they are, and what
 * they gave as a file of figures.
 *
 * Architecture invariant: no package is installed. No engine of the gate needs
 * one, and a registry that is slow or away must not hold it up.
 *
 * @module
 */

import { loadSuite, suiteModules } from "../harness/case_child.ts";
import { killChildren } from "../harness/children.ts";
import type { Figure } from "../harness/figure.ts";
import { removeFolder } from "../harness/folders.ts";
import { runSuite, type Watcher } from "../harness/schedule.ts";
import type { Order, Suite } from "../harness/suite.ts";
import { killObedient } from "../harness/obedient.ts";
import { runSqliteSuite } from "../sqlite/suite.ts";
import { runSyncSuite } from "../sync/run.ts";
import { type Course, enginesOf } from "./choice.ts";

/** The process's only argument, as JSON. */
export interface Assignment {
  readonly course: Course;
  /** An empty folder; whoever asks removes it, or else this process. */
  readonly folder: string;
  /** Where the figures are left. */
  readonly answer: string;
}

/** A terminal tells the whole group, not the gate alone. */
const breakingOff: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

const nobody: Watcher = { begin() {}, step() {}, note() {} };

/** Runs the cases of a course. */
export async function runCases(
  course: Course,
  folder: string,
): Promise<Figure[]> {
  const { suite } = course;
  const order = orderOf(course);
  switch (suite) {
    case "sqlite":
      return await runSqliteSuite(order, folder, nobody);
    case "sync":
      return await runSyncSuite(order, folder, nobody);
    case "kv":
    case "ycsb":
    case "stress":
    case "compare":
    case "text": {
      const whole = await loadSuite(suiteModules[suite]);
      const place = { folder, peers: folder };
      return await runSuite(narrowed(whole, course), order, place, nobody);
    }
  }
}

/** What a suite is told of a course. */
export function orderOf(course: Course): Order {
  return {
    sizes: [course.size],
    engines: enginesOf(course),
    filter: course.filter,
    isQuick: true,
    addresses: {},
  };
}

/** The suite with the cases of a course alone; an engine's name may begin another's. */
export function narrowed(suite: Suite, course: Course): Suite {
  const engines = enginesOf(course);
  return {
    ...suite,
    cases: (order) =>
      suite.cases(order).filter(({ name, engine }) =>
        engines.includes(engine) && (course.cases?.includes(name) ?? true)
      ),
  };
}

/** What this process started ends with it, also when its time is up or the gate is broken off. */
function endWith(code: number): never {
  killObedient();
  killChildren();
  Deno.exit(code);
}

/** Nobody wants the answer any more: leaves nothing, for the folder may be in memory. */
async function breakOff({ folder }: Assignment): Promise<never> {
  killObedient();
  killChildren();
  await removeFolder(folder);
  return endWith(1);
}

/** The gate's end of the pipe closes when it says so, and when it is gone. */
async function endWithGate(assignment: Assignment): Promise<void> {
  for await (const _ of Deno.stdin.readable) { /* Nothing is ever said. */ }
  await breakOff(assignment);
}

if (import.meta.main) {
  const assignment: Assignment = JSON.parse(Deno.args[0] ?? "");
  for (const signal of breakingOff) {
    Deno.addSignalListener(signal, () => void breakOff(assignment));
  }
  endWithGate(assignment);
  const figures = await runCases(assignment.course, assignment.folder);
  Deno.writeTextFileSync(assignment.answer, JSON.stringify(figures));
  endWith(0);
}
