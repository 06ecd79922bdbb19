/**
 * The serving door with what finds the history of an item fast: for who does not
 * load his code into a page.
 *
 * @module
 */

import type { Door } from "./door.ts";
import { ItemTouches } from "./item_touches.ts";
import { servingDoor } from "./serving_door.ts";
import { TouchFiles } from "./touch_files.ts";

/** Lets in what is sound, and indexes what touches each item. */
export const indexedDoor: Door = {
  ...servingDoor,
  intake(parts) {
    const { commits, loaded } = parts;
    const { log, checkpoint } = loaded;
    const files = new TouchFiles(checkpoint?.file);
    commits.touches = new ItemTouches(commits, log, files);
    return servingDoor.intake(parts);
  },
};
