/** React over the store contract, in a real browser. */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest } from "./kit/mod.ts";
import type * as ReactPage from "./react_page.ts";

const entries = { page: new URL("react_page.ts", import.meta.url) };

browserTest(
  "React shows queries, items, sync and undo by useSyncExternalStore, and renders what changed and nothing else",
  { entries },
  async (place) => {
    const tab = await place.open<typeof ReactPage>("page");
    await tab.call("show", true);
    deepEqual(await tab.call("see"), {
      text: "none offline 0 false",
      renders: "1 1 1",
    });
    await tab.call("create", "b", "B");
    equal((await tab.call("see")).text, "B none offline 1 true");
    await tab.call("create", "a", "A");
    const before = await tab.call("see");
    equal(before.text, "A B A offline 2 true");
    await tab.call("finish", "b");
    const after = await tab.call("see");
    equal(after.text, "A A offline 3 true");
    equal(after.renders.split(" ")[1], before.renders.split(" ")[1]);
    await tab.call("undo");
    equal((await tab.call("see")).text, "A B A offline 4 true");
    await tab.call("show", false);
    equal((await tab.call("see")).text, "");
    await tab.call("create", "c", "C");
    await tab.call("show", true, true); // Strict: effects run twice.
    equal((await tab.call("see")).text, "A B C A offline 5 true");
    await tab.call("finish", "a");
    equal((await tab.call("see")).text, "B C A offline 6 true");
  },
);
