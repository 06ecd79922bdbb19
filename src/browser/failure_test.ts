import { deepEqual, equal } from "node:assert/strict";
import { DatabaseError } from "../base/errors.ts";
import { errorOf, failureOf, isGone } from "./failure.ts";

Deno.test("failureOf() and errorOf() carry code and message, and no more than fits", () => {
  const error = new DatabaseError("storage-full", "No room is left");
  const failure = failureOf(error);
  deepEqual(failure, { code: "storage-full", message: "No room is left" });
  deepEqual([errorOf(failure).code, errorOf(failure).message], [
    error.code,
    error.message,
  ]);
  equal(failureOf("odd").code, "storage-failed");
  equal(failureOf("odd", "unreachable").code, "unreachable");
  equal(failureOf(error, "unreachable").code, "storage-full");
  equal(failureOf(new Error("x".repeat(1 << 20))).message.length, 16 * 1024);
});

Deno.test("isGone() knows an owner without files, also where its log says only that it failed", () => {
  const readOnly = (cause: unknown) =>
    new DatabaseError("storage-readonly", "A write failed", { cause });
  for (
    const code of ["closed", "database-locked", "storage-evicted"] as const
  ) {
    const error = new DatabaseError(code, "It is over");
    deepEqual([isGone(error), isGone(readOnly(error))], [true, true], code);
  }
  const full = new DatabaseError("storage-full", "No room is left");
  deepEqual([isGone(full), isGone(readOnly(full))], [false, false]);
  equal(isGone(readOnly(new Error("odd"))), false);
});
