/**
 * The door of a replica into which others bring records: handed to it by who
 * opens it, so that one without visitors (a tab's) loads none, and one without
 * rules (a browser's owner) nothing that judges by them.
 *
 * @module
 */

import { assert } from "../src/base/errors.ts";
import type { RepositoryRules } from "../src/schema/rules.ts";
import type { epochFactsOf, openEpoch } from "./epoch.ts";
import { Intake, type IntakeParts } from "./intake.ts";

/** What a door is made with. */
export interface DoorParts extends Omit<IntakeParts, "rules"> {
  /** The app's rules, where it has any. */
  readonly rules: RepositoryRules | undefined;
}

/** How a replica deals with others. */
export interface Door {
  /** Takes in what they bring. */
  readonly intake: (parts: DoorParts) => Intake;
  /** Tells who is given positions of the log which life of it they are of; where it is served. */
  readonly lives?: {
    readonly open: typeof openEpoch;
    readonly factsOf: typeof epochFactsOf;
  };
}

/** A door where no rules are asked, and nothing is served. */
export const plainDoor: Door = {
  intake({ rules, ...parts }) {
    assert(rules === undefined, "rules have a door that asks them");
    return new Intake({ ...parts, rules });
  },
};
