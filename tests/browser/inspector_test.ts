import assert from "node:assert/strict";
import type * as InspectorPage from "./inspector_page.ts";
import { browserTest } from "./kit/mod.ts";

const entries = { page: new URL("inspector_page.ts", import.meta.url) };

browserTest(
  "inspect() shows commits, live queries and latencies as they happen, and text as text",
  { entries },
  async (place) => {
    const tab = await place.open<typeof InspectorPage>("page");
    await tab.call("start");
    const { page } = tab;
    await page.getByText("create task/").first().waitFor();
    const commits = await page.locator("sheaf-inspector li").allInnerTexts();
    assert.ok(commits.some((line) => line.includes("ann")), commits.join("\n"));
    assert.ok(commits.some((line) => line.includes("bob")));
    await place.screenshot(page, "inspector-commits");

    await page.getByRole("tab", { name: "Live queries" }).click();
    await tab.call("write", 30);
    const row = page.locator("tr", {
      hasText: "done = false, by title, limit 10",
    });
    await row.waitFor();
    await page.waitForFunction(() => {
      const host = document.querySelector("sheaf-inspector");
      return host?.shadowRoot?.textContent?.includes("30") === true;
    });
    await page.getByRole("tab", { name: "Latency" }).click();
    await page.getByText("● durable").waitFor();
    const figures = await page.locator("tr", { hasText: "write" }).last()
      .innerText();
    assert.match(figures, /µs|ms/);
    await place.screenshot(page, "inspector-latency");

    await page.keyboard.press("Alt+Shift+KeyS");
    assert.equal(await page.locator("sheaf-inspector section").count(), 0);
  },
);
