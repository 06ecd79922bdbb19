/** The story that the demo's boards begin with. */

import { deepEqual } from "node:assert/strict";
import { storyOf } from "./story.ts";

const HOUR_MS = 3_600_000;

Deno.test("nothing happens on the boards before they are made, whenever the story is told", () => {
  const monday = Date.UTC(2026, 10, 23);
  for (let hour = 0; hour < 7 * 24; hour++) {
    const [first, second] = storyOf(monday + hour * HOUR_MS);
    deepEqual([first!.who, second!.at - first!.at >= HOUR_MS], ["maya", true]);
  }
});
