/**
 * The lines that the bench and its child processes exchange: one JSON value
 * a line, commands on the child's standard input, one reply each on its
 * standard output.
 *
 * @module
 */

import type { Contestant } from "./engine.ts";
import type { StoreName } from "./workload.ts";

/** Who a child is and where it works; its only argument, as JSON. */
export interface Assignment {
  readonly contestant: Contestant;
  readonly home: string;
  readonly size: number;
}

/** What a child may be told to do. */
export type Command =
  /** Fill a prepared database and close it. */
  | { readonly do: "load"; readonly store: StoreName }
  /** Start a workload: check its answers, warm up. */
  | {
    readonly do: "start";
    readonly workload: string;
    readonly store: StoreName;
    readonly warmMs: number;
  }
  /** Time the started workload for a while. */
  | {
    readonly do: "slice";
    readonly sliceMs: number;
    readonly samplesMax: number;
  }
  /** Check the started workload's answers again and end it. */
  | { readonly do: "finish" }
  /** Time a workload once, with nothing before it. */
  | {
    readonly do: "once";
    readonly workload: string;
    readonly store: StoreName;
    readonly isChecked: boolean;
  }
  /** Take a value. */
  | {
    readonly do: "value";
    readonly workload: string;
    readonly store: StoreName;
  }
  /** Close the prepared databases. */
  | { readonly do: "release" };

/** What comes back. */
export interface Reply {
  /** Milliseconds for each operation. */
  readonly samples?: readonly number[];
  readonly value?: number;
  /** Milliseconds of the least that could be done, beside each sample. */
  readonly floor?: number;
  /** What was wrong with an answer. */
  readonly wrong?: string;
  /** Why the command could not be done. */
  readonly failed?: string;
}
