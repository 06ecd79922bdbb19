/**
 * Some time of the simulation as a task: fresh seeds for every commit, the same
 * ones for one commit.
 *
 * @module
 */

import type { Outcome, Task } from "./suite.ts";

const root = new URL("../../", import.meta.url);
const NAME = "simulation";
const FILE = "tests/simulation/main.ts";
/** A seed is a whole number that a command line takes. */
const COMMIT_DIGITS = 7;

/** Runs seeds for so many seconds; `heard` is told each line. */
export function simulationTask(
  seconds: number,
  heard: (at: string) => void,
): Task {
  return { name: NAME, run: () => simulate(seconds, heard) };
}

async function simulate(
  seconds: number,
  heard: (at: string) => void,
): Promise<Outcome> {
  heard("the simulation");
  const args = ["run", "--quiet", "--allow-all", "--no-check", FILE];
  const seed = await seedOfCommit();
  args.push(`--seed=${seed}`, `--seconds=${seconds}`);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const said = decoder.decode(stdout).trim();
  if (code === 0) return { passed: 1, ignored: [], failed: [], reasons: "" };
  const reasons = `${said}\n${decoder.decode(stderr)}`.trim();
  return {
    passed: 0,
    ignored: [],
    failed: [{ file: FILE, name: `seeds from ${seed}` }],
    reasons,
  };
}

/** From the commit that is checked out; where there is none, always the same. */
async function seedOfCommit(): Promise<number> {
  try {
    const { success, stdout } = await new Deno.Command("git", {
      args: ["rev-parse", `--short=${COMMIT_DIGITS}`, "HEAD"],
      cwd: root,
      stderr: "null",
    }).output();
    const hash = new TextDecoder().decode(stdout).slice(0, COMMIT_DIGITS);
    return success ? Number.parseInt(hash, 16) : 0;
  } catch {
    return 0; // No git here.
  }
}
