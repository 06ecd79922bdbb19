/**
 * OpenTelemetry spans, where the program was started with `OTEL_DENO=true`.
 *
 * Deno exports what goes through `@opentelemetry/api`, elsewhere the SDK that
 * the program has loaded; without that variable the package is not even loaded
 * and a span costs one comparison.
 */

import process from "node:process";
import type { Attributes, Tracer } from "@opentelemetry/api";

const SWITCH = "OTEL_DENO";
const ASKED = /^(true|1)$/;

export interface Tracing {
  readonly isOn: boolean;
  /** Runs synchronous or asynchronous work within a span of this name. */
  span<T>(name: string, attributes: Attributes, work: () => T): T;
}

export const noTracing: Tracing = {
  isOn: false,
  span: (_name, _attributes, work) => work(),
};

export async function openTracing(): Promise<Tracing> {
  if (!isAskedFor()) return noTracing;
  const { SpanStatusCode, trace } = await import("@opentelemetry/api");
  return tracingOver(trace.getTracer("sheaf"), SpanStatusCode.ERROR);
}

/** Deno may not be asked without a right: it would ask a person. */
function isAskedFor(): boolean {
  if (!("Deno" in globalThis)) return ASKED.test(process.env[SWITCH] ?? "");
  const { state } = Deno.permissions.querySync({
    name: "env",
    variable: SWITCH,
  });
  return state === "granted" && ASKED.test(process.env[SWITCH] ?? "");
}

export function tracingOver(tracer: Tracer, errorCode: number): Tracing {
  return {
    isOn: true,
    span: (name, attributes, work) =>
      tracer.startActiveSpan(name, { attributes }, (span) => {
        const fail = (error: unknown) => {
          span.setStatus({ code: errorCode, message: String(error) });
          span.end();
        };
        try {
          const result = work();
          if (!(result instanceof Promise)) {
            span.end();
            return result;
          }
          result.then(() => span.end(), fail);
          return result;
        } catch (error) {
          fail(error);
          throw error;
        }
      }),
  };
}
