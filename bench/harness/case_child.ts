/**
 * One engine's turn at one case, in this process, which is fresh: loads the
 * suite, runs the case and leaves what came of it in a file.
 *
 * A file, not standard output: other people's engines print there as they like.
 *
 * @module
 */

import type { SuiteName } from "./figure.ts";
import {
  type CaseSpec,
  NotHere,
  type Outcome,
  type Stage,
  type Suite,
} from "./suite.ts";

/** The child's only argument, as JSON. */
export interface Assignment {
  readonly spec: CaseSpec;
  readonly stage: Stage;
  /** Where the outcome is left. */
  readonly answer: string;
  /** The suite's module. */
  readonly suite: string;
}

/** What a turn came to. */
export type Answer =
  | { readonly outcomes: readonly Outcome[] }
  | { readonly notHere: string };

/** Suites that the schedule runs, with their modules. */
export const suiteModules: Readonly<
  Record<Exclude<SuiteName, "sqlite" | "sync">, string>
> = {
  kv: "../kv/mod.ts",
  ycsb: "../ycsb/mod.ts",
  stress: "../stress/mod.ts",
  compare: "../compare/mod.ts",
  text: "../text/mod.ts",
};

/** Loads the suite of a module. */
export async function loadSuite(module: string): Promise<Suite> {
  const { suite }: { suite: Suite } = await import(module);
  return suite;
}

async function turn({ spec, stage, suite }: Assignment): Promise<Answer> {
  try {
    return { outcomes: await (await loadSuite(suite)).run(spec, stage) };
  } catch (error) {
    if (error instanceof NotHere) return { notHere: error.message };
    throw error;
  }
}

/** When the parent is gone nobody wants the answer. */
async function endWithParent(): Promise<void> {
  for await (const _ of Deno.stdin.readable) { /* Nothing is ever said. */ }
  Deno.exit(1);
}

if (import.meta.main) {
  const assignment: Assignment = JSON.parse(Deno.args[0] ?? "");
  endWithParent();
  const answer = await turn(assignment);
  Deno.writeTextFileSync(assignment.answer, JSON.stringify(answer));
  // An engine may have left timers or sockets behind.
  Deno.exit(0);
}
