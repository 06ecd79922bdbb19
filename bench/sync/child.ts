/**
 * Runs one case and prints its rows as one line.
 *
 * @module
 */

import { cases } from "./cases.ts";
import type { Stage } from "./place.ts";

const { name, stage }: { name: string; stage: Stage } = JSON.parse(
  Deno.args[0] ?? "",
);
const rows = await cases[name]!.run(stage);
console.log(JSON.stringify(rows));
Deno.exit(0);
