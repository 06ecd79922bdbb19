/**
 * The serving door with what finds the history of an item fast: for who does not
 * load his code into a page.
 *
 * @module
 */

import type { Door } from "./door.ts";
import { ItemTouches } from "./item_touches.ts";
import { servingDoor } from "./serving_door.ts";

/** Lets in what is sound, and indexes what touches each item. */
export const indexedDoor: Door = {
  ...servingDoor,
  intake(parts) {
    const { commits, loaded } = parts;
    commits.touches = new ItemTouches(commits, loaded.log);
    return servingDoor.intake(parts);
  },
};
