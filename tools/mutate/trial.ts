/**
 * What is asked of a copy of the tree with a mutant in it: do its types stand,
 * and which tests notice? The copy is that of `tools/sandbox.ts`.
 *
 * @module
 */

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Sandbox } from "../sandbox.ts";
import { type Mutant, mutated } from "./mutants.ts";

/** How the tests of a file ended. */
export type Outcome = "passed" | "failed" | "late";

/** What takes longer never ends. */
export const TOOL_SECONDS_MAX = 900;
const ERROR_AT = /\bat (file:\/\/\/\S+?\.tsx?):\d+:\d+/g;

/** Puts a mutant into its file, which holds no other. */
export async function put(sandbox: Sandbox, mutant: Mutant): Promise<void> {
  await sandbox.change(mutant.path, (source) => mutated(source, mutant));
}

/** Which of these modules do not type-check. */
export async function filesAtFault(
  sandbox: Sandbox,
  paths: readonly string[],
): Promise<Set<string>> {
  const args = ["check", "--quiet", "--node-modules-dir=manual", ...paths];
  const ran = await sandbox.run(args, { secondsMax: TOOL_SECONDS_MAX });
  return new Set(Array.from(
    ran.output.matchAll(ERROR_AT),
    ([, url]) => relative(sandbox.path, fileURLToPath(url!)),
  ));
}

/** Runs the tests of one file up to the first that fails. */
export async function tryTests(
  sandbox: Sandbox,
  path: string,
  secondsMax: number,
  options: readonly string[] = [],
): Promise<Outcome> {
  const { isLate, isSuccess } = await sandbox.run([
    "test",
    "--allow-all",
    "--no-check",
    "--fail-fast",
    "--quiet",
    "--node-modules-dir=manual",
    ...options,
    path,
  ], { secondsMax });
  return isLate ? "late" : isSuccess ? "passed" : "failed";
}
