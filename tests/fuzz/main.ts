/**
 * `deno task fuzz`: runs seed after seed in parallel processes, see
 * `tests/seeds/command.ts`.
 *
 * @module
 */

import { runSeeds } from "../seeds/command.ts";
import { fuzzing } from "./suite.ts";

Deno.exit(await runSeeds(fuzzing));
