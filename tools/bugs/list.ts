/**
 * The list of deliberate bugs: grave ones, each at one place, each of a kind
 * that a change could bring in tomorrow. `deno task bugs` makes them one by one
 * in a private copy of the tree and says which test finds each.
 *
 * A place that has changed is found by `list_test.ts`: write the bug anew for
 * what stands there now. A grave bug that got past the tests belongs here, with
 * the test that finds it from now on.
 *
 * @module
 */

import type { Bug } from "./bug.ts";
import { dataBugs } from "./data.ts";
import { deviceBugs } from "./devices.ts";
import { durabilityBugs } from "./durability.ts";
import { rightsBugs } from "./rights.ts";
import { syncBugs } from "./sync.ts";

export const bugs: readonly Bug[] = [
  ...durabilityBugs,
  ...syncBugs,
  ...rightsBugs,
  ...dataBugs,
  ...deviceBugs,
];
