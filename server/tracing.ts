/**
 * OpenTelemetry spans, where the program was started with `OTEL_DENO=true`.
 *
 * Deno exports what goes through `@opentelemetry/api`; without that variable
 * the package is not even loaded and a span costs one comparison.
 *
 * @module
 */

import type { Attributes, Tracer } from "@opentelemetry/api";

/** Runs work within a span. */
export interface Tracing {
  /** Is somebody listening? */
  readonly isOn: boolean;
  /** Runs synchronous or asynchronous work within a span of this name. */
  span<T>(name: string, attributes: Attributes, work: () => T): T;
}

/** No spans at all. */
export const noTracing: Tracing = {
  isOn: false,
  span: (_name, _attributes, work) => work(),
};

/** The tracing that the environment asks for. */
export async function openTracing(): Promise<Tracing> {
  if (!isAskedFor()) return noTracing;
  const { SpanStatusCode, trace } = await import("@opentelemetry/api");
  return tracingOver(trace.getTracer("sheaf"), SpanStatusCode.ERROR);
}

function isAskedFor(): boolean {
  const { state } = Deno.permissions.querySync({
    name: "env",
    variable: "OTEL_DENO",
  });
  if (state !== "granted") return false;
  const value = Deno.env.get("OTEL_DENO");
  return value === "true" || value === "1";
}

/** Spans of a tracer. */
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
