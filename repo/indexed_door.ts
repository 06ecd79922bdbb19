/**
 * The door that asks the app's rules, with what finds the history of an item
 * fast: for who does not load his code into a page.
 *
 * @module
 */

import type { Door } from "./door.ts";
import { ItemTouches } from "./item_touches.ts";
import { ruledDoor } from "./ruled_door.ts";

/** Lets in what the rules allow, and indexes what touches each item. */
export const indexedDoor: Door = {
  ...ruledDoor,
  intake(parts) {
    const { commits, loaded } = parts;
    commits.touches = new ItemTouches(commits, loaded.log);
    return ruledDoor.intake(parts);
  },
};
