/**
 * The two tiers of tests: what `deno task test` runs, and what it leaves to
 * `deno task test:all`, by name and reason.
 *
 * A suite that runs in both, small and whole, is in neither list: it asks
 * `tests/kit/tier.ts` for its size.
 *
 * @module
 */

/** Which command runs a test file. */
export type Tier = "quick" | "all";

/** A part of the tests that only `deno task test:all` runs. */
export interface LeftOut {
  /** What it is, for who reads the summary. */
  readonly name: string;
  readonly files: RegExp;
}

/** What `deno task test` leaves out; what takes longest first. */
export const leftOut: readonly LeftOut[] = [
  { name: "kill -9", files: /^tests\/(browser\/)?(\w+_)?kill_test\.ts$/ },
  { name: "floods", files: /^tests\/server_flood_test\.ts$/ },
  { name: "tab lives", files: /^tests\/tabs_fuzz_test\.ts$/ },
  {
    name: "whole programs",
    files:
      /^tests\/(demo|import_memory)_test\.ts$|^bench\/(main|gate\/process|harness\/schedule|stress\/part)_test\.ts$/,
  },
  {
    name: "packages under all runtimes and bundlers",
    files: /^tools\/release\/(runtimes|apps|create|trips)_test\.ts$/,
  },
  {
    name: "browsers",
    files: /^tests\/browser\/(?!smoke_test|\w+_kill_test)/,
  },
];

/** The tier of a test file, by its path from the root of the project. */
export function tierOf(path: string): Tier {
  return leftOut.some(({ files }) => files.test(path)) ? "all" : "quick";
}
