/**
 * Runs one case and leaves its rows in a file.
 *
 * @module
 */

import { cases } from "./cases.ts";
import type { Stage } from "./place.ts";

/** The child's only argument, as JSON. */
export interface Assignment {
  readonly name: string;
  readonly stage: Stage;
  /** Where the rows are left. */
  readonly answer: string;
}

if (import.meta.main) {
  const { name, stage, answer }: Assignment = JSON.parse(Deno.args[0] ?? "");
  const rows = await cases[name]?.run(stage);
  Deno.writeTextFileSync(answer, JSON.stringify(rows));
  Deno.exit(0);
}
