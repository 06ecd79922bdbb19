/**
 * The door that asks the app's rules, where there are any; also a server's.
 *
 * @module
 */

import { doorRulesOf } from "./batch_rules.ts";
import type { Door } from "./door.ts";
import { epochFactsOf, openEpoch } from "./epoch.ts";
import { Intake } from "./intake.ts";

/** Lets in what the rules allow. */
export const ruledDoor: Door = {
  intake({ rules, ...parts }) {
    const { loaded, commits } = parts;
    const judge = rules && doorRulesOf(rules, loaded, commits);
    return new Intake({ ...parts, rules: judge });
  },
  lives: { open: openEpoch, factsOf: epochFactsOf },
};
