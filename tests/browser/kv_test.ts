/**
 * The key-value store in pages: tabs of one device share it, and it survives
 * the browser's death.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { browserTest, until } from "./kit/mod.ts";
import { entries as proof } from "./proof_place.ts";

type Page = typeof import("./kv_page.ts");

const entries = {
  page: new URL("kv_page.ts", import.meta.url),
  worker: proof.worker,
};

browserTest(
  "tabs share a key-value store, which is there after the browser's death",
  { entries, mayThrow: true },
  async (place) => {
    const one = await place.open<Page>("page");
    const two = await place.open<Page>("page");
    for (const tab of [one, two]) await tab.call("open");
    await one.call("set", "user/1", "Ada");
    await one.call("setDate", "user/2", 7);
    await one.call("set", "other", 1);
    const both = ["user/1", "user/2"];
    await until(
      async () => (await two.call("keys", "user/")).length === 2,
      "the other tab has it",
    );
    deepEqual(await two.call("keys", "user/"), both);
    equal(await two.call("get", "user/2"), "date 7");
    equal(await two.call("take", "user/1", "two"), false, "it is taken");
    equal(await two.call("remove", "user/1"), true);
    await until(
      async () => (await one.call("keys", "user/")).length === 1,
      "the first tab sees that it is gone",
    );
    equal(await one.call("take", "user/1", "one"), true, "and takes it");
    await one.call("set", "user/3", 3, 300);
    const expired = "user/3 expired";
    for (const tab of [one, two]) {
      await until(
        async () => (await tab.call("told")).includes(expired),
        "every tab hears that it expired",
      );
      deepEqual(await tab.call("keys", "user/"), both);
    }
    equal(await two.call("first", "user/1"), '"Ada"');
    await place.killAndRestart();
    const again = await place.open<Page>("page");
    await again.call("open");
    deepEqual(await again.call("keys", ""), ["other", ...both]);
    equal(await again.call("get", "user/1"), '"one"');
    equal(await again.call("first", "user/1"), '"Ada"');
    equal(await again.call("get", "user/2"), "date 7");
  },
);
