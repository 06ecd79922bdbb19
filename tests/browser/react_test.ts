/** React with the hooks of `@sheaf/sheaf/react`, in a real browser and in StrictMode. */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest, eventually } from "./kit/mod.ts";
import type * as ReactPage from "./react_page.ts";

const entries = { page: new URL("react_page.ts", import.meta.url) };

browserTest(
  "React opens a database once, shows what is in it, and renders what changed and nothing else",
  { entries },
  async (place) => {
    const tab = await place.open<typeof ReactPage>("page");
    await tab.call("show", true);
    const sees = (text: string) =>
      eventually(async () => equal((await tab.call("see")).text, text));
    await sees("ready offline true false memory true show");
    await tab.call("create", "b", "B");
    await sees("B ready offline false true memory true show");
    await tab.call("create", "a", "A");
    await sees("A B A offline false true memory true show");
    const rendered = await tab.call("rendered");
    await tab.call("finish", "b");
    await sees("A A offline false true memory true show");
    equal(await tab.call("rendered"), rendered);
    await tab.page.click("button");
    await sees("A A offline false true memory true showA+B");
    await tab.page.type("textarea", "Hello");
    await eventually(async () => equal(await tab.call("note"), "Hello"));
    await tab.call("show", true, "anew"); // As hot reload does it.
    await sees("A A offline false true memory true show");
    deepEqual(await tab.call("see"), {
      text: "A A offline false true memory true show",
      note: "Hello",
      opened: "1 0",
    });
    await tab.call("show", false);
    await eventually(async () =>
      deepEqual(await tab.call("see"), {
        text: "",
        note: "none",
        opened: "1 1",
      })
    );
    await tab.call("show", true);
    await sees("A A offline false true memory true show");
    equal((await tab.call("see")).opened, "2 1");
  },
);
