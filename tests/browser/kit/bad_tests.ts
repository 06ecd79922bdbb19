/**
 * Tests that must fail, each in its own way: `failing_test.ts` runs them and
 * looks at what is said.
 *
 * @module
 */

import type * as KitPage from "./kit_page.ts";
import { browserTest, waitFor } from "./mod.ts";

const entries = { kit: new URL("kit_page.ts", import.meta.url) };
type Page = typeof KitPage;

browserTest("throws in a page", { entries }, async (place) => {
  const tab = await place.open<Page>("kit");
  const thrown = tab.page.waitForEvent("pageerror");
  await tab.call("throwLater", "nobody caught me");
  await thrown;
});

browserTest("never ends", { entries, secondsMax: 2 }, async (place) => {
  const tab = await place.open<Page>("kit");
  await tab.page.evaluate("console.warn('still here')");
  console.log(`browser ${place.running.pid}`);
  await waitFor("what never comes", new Promise(() => {}));
});

browserTest("is not answered", { entries }, async (place) => {
  const tab = await place.open<Page>("kit");
  await tab.callWithin(1, "hang", "for ever");
});

browserTest("is served no such entry", { entries }, async (place) => {
  await place.open("nothing");
});
