/**
 * The web demo and the disk: it does not close over what is not saved, says
 * calmly what happened to its files, and asks once to keep them; and a build for
 * production brings no inspector.
 */

import { equal, match, ok } from "node:assert/strict";
import { buildDemo, endBuilding } from "../../web-demo/build.ts";
import { demoPlace, openAs, settled } from "./demo_place.ts";
import { browserTest, eventually, type Page } from "./kit/mod.ts";

const options = { entries: {} };

async function addCard(page: Page, title: string): Promise<void> {
  await page.getByRole("button", { name: "Add a card to Ideas" }).click();
  await page.keyboard.type(title);
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
}

/** Presses Enter in the composer, and asks in the same breath whether the page would ask before it closes. */
const writeAndClose = `(() => {
  const enter = { key: "Enter", bubbles: true, cancelable: true };
  document.activeElement.dispatchEvent(new KeyboardEvent("keydown", enter));
  return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
})()`;

const close = `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`;

browserTest(
  "demo: asks before it closes over what is not on the disk yet, and only then",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    equal(await page.evaluate(close), false, "nothing was written");
    await page.getByRole("button", { name: "Add a card to Ideas" }).click();
    await page.keyboard.type("Closed over at once");
    equal(await page.evaluate(writeAndClose), true, "not durable yet");
    await page.locator(".tile", { hasText: "Closed over at once" }).waitFor();
    await eventually(async () => equal(await page.evaluate(close), false));
  },
);

browserTest(
  "demo: what the browser cleared away comes back, and is said; nothing is asked twice",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = place.context; // The browser looks after a profile's files only.
    await device.addInitScript(`{
      globalThis.asked = 0;
      const { storage } = navigator;
      const persist = storage?.persist.bind(storage);
      if (storage) storage.persist = () => (asked++, persist());
    }`);
    const page = await openAs("maya", demo, device);
    await settled(page);
    await page.keyboard.press("Tab");
    equal(await page.evaluate("asked"), 0, "nothing was written yet");
    await addCard(page, "Here before it was cleared");
    await settled(page);
    await page.keyboard.press("Tab");
    await eventually(async () => equal(await page.evaluate("asked"), 1));

    const session = await device.newCDPSession(page);
    const { origin } = new URL(page.url());
    const storageTypes = "file_systems,indexeddb";
    await session.send("Storage.clearDataForOrigin", { origin, storageTypes });
    await addCard(page, "Written after it was cleared");
    const note = page.locator(".note", { hasText: /cleared this device/ });
    await note.waitFor({ timeout: 60_000 });
    equal(await note.count(), 1);
    await note.getByRole("button", { name: "Close this note" }).click();
    await page.locator(".badge").click();
    match(await page.locator(".popover .incident").first().innerText(), /./);
    await page.keyboard.press("Escape");
    await settled(page);
    await page.reload();
    await page.waitForSelector(".tile");
    for (const title of ["Here before", "Written after"]) {
      await page.locator(".tile", { hasText: title }).waitFor();
    }
    await page.keyboard.press("Tab");
    equal(await page.evaluate("asked"), 0, "it was asked before the reload");
  },
);

Deno.test("demo: a build for production has nothing of the inspector", async () => {
  const folder = await Deno.makeTempDir({ prefix: "sheaf-demo-" });
  try {
    for (const hasInspector of [false, true]) {
      await buildDemo(folder, { hasInspector });
      const has: string[] = [];
      for await (const { name } of Deno.readDir(folder)) {
        if (!name.endsWith(".js")) continue;
        const text = await Deno.readTextFile(`${folder}/${name}`);
        if (text.includes("sheaf-inspector")) has.push(name);
      }
      equal(has.length > 0, hasInspector, has.join());
      // It is a part of its own, which the page does not fetch at once.
      const page = await Deno.readTextFile(`${folder}/index.html`);
      ok(!has.some((name) => page.includes(name)), has.join());
    }
  } finally {
    await endBuilding();
    await Deno.remove(folder, { recursive: true });
  }
});
