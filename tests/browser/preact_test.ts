/** The hooks of `./preact`, in a real browser. */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest } from "./kit/mod.ts";
import type * as PreactPage from "./preact_page.tsx";

const entries = { page: new URL("preact_page.tsx", import.meta.url) };

browserTest(
  "Preact hooks show a board of 200 items and render one row for a change of one",
  { entries },
  async (place) => {
    const tab = await place.open<typeof PreactPage>("page");
    await tab.call("show", true);
    equal((await tab.call("see")).text, "0 0 false");
    await tab.call("fill");
    const full = await tab.call("see");
    deepEqual([full.text, full.rows, full.row], ["200 1 true", 200, 200]);
    await tab.call("rename", "t1007", "seven");
    const after = await tab.call("see");
    equal(await tab.call("row", 7), "seven");
    equal(after.text, "200 2 true");
    // The list has another row and the badge another count: one render of the page, and one row.
    deepEqual([after.page, after.row], [full.page + 1, 201]);
    await tab.call("show", false);
    equal((await tab.call("see")).rows, 0);
    await tab.call("rename", "t1008", "eight");
    deepEqual((await tab.call("see")).row, after.row);
    await tab.call("show", true);
    await tab.call("see");
    equal(await tab.call("row", 8), "eight");
  },
);
