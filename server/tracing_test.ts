import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import type { Tracer } from "@opentelemetry/api";
import { noTracing, tracingOver } from "./tracing.ts";

/** A tracer that writes down what happens. */
function recorder(): { tracer: Tracer; told: string[] } {
  const told: string[] = [];
  const tracer = {
    startActiveSpan(name: string, _options: unknown, work: CallableFunction) {
      told.push(`begin ${name}`);
      return work({
        setStatus: ({ message }: { message: string }) => told.push(message),
        end: () => told.push(`end ${name}`),
      });
    },
  };
  return { tracer: tracer as unknown as Tracer, told };
}

Deno.test("tracingOver() ends a span when its work has ended, well or not", async () => {
  const { tracer, told } = recorder();
  const tracing = tracingOver(tracer, 2);
  equal(tracing.span("now", {}, () => 7), 7);
  const later = Promise.withResolvers<number>();
  const result = tracing.span("later", {}, () => later.promise);
  deepEqual(told, ["begin now", "end now", "begin later"]);
  later.resolve(8);
  equal(await result, 8);
  const fail = () => {
    throw new Error("oh");
  };
  throws(() => tracing.span("bad", {}, fail), /oh/);
  const failLater = () => Promise.reject(new Error("late"));
  await rejects(tracing.span("worse", {}, failLater), /late/);
  deepEqual(told.slice(3), [
    "end later",
    "begin bad",
    "Error: oh",
    "end bad",
    "begin worse",
    "Error: late",
    "end worse",
  ]);
});

Deno.test("noTracing only does the work", () => {
  equal(noTracing.isOn, false);
  equal(noTracing.span("x", {}, () => 1), 1);
});
