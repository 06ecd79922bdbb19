import { equal } from "node:assert/strict";
import { DatabaseError, type ErrorCode } from "../base/errors.ts";
import { replaces } from "./browser_storage.ts";

/** Codes of failures of the medium, and codes that end everything. */
const FAILED: readonly ErrorCode[] = ["storage-failed", "storage-full"];
const OVER: readonly ErrorCode[] = [
  "closed",
  "database-locked",
  "storage-evicted",
];

function of(code: ErrorCode): DatabaseError {
  return new DatabaseError(code, code);
}

Deno.test("replaces(): the first failure stands, unless it turns out that all is over", () => {
  const all = [...FAILED, ...OVER];
  for (const first of all) {
    for (const next of all) {
      const isWorse = FAILED.includes(first) && OVER.includes(next);
      equal(replaces(of(next), of(first)), isWorse, `${next} after ${first}`);
    }
  }
});
