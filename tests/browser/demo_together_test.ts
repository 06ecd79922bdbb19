/** The web demo where two people are at the same card, and where the network goes. */

import { equal, match, ok } from "node:assert/strict";
import { demoPlace, openAs, settled, tile } from "./demo_place.ts";
import { browserTest, eventually } from "./kit/mod.ts";

const options = { entries: {} };
const TUNNEL = "Tickets must open in the tunnel";

browserTest(
  "demo: a title that two people type in keeps every word of both, mid-word too",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const maya = await openAs("maya", demo, await place.device());
    const jonas = await openAs("jonas", demo, await place.device());
    const titles = [];
    for (const page of [maya, jonas]) {
      await settled(page);
      await tile(page, TUNNEL).click();
      titles.push(page.getByRole("textbox", { name: "Title" }));
    }
    const [hers, his] = titles;
    await hers!.press("Home");
    await his!.press("End");
    await his!.pressSequentially(" and on ev");
    await hers!.pressSequentially("Soon: ");
    await eventually(async () => match(await his!.inputValue(), /^Soon: Tick/));
    await his!.pressSequentially("ery ferry");
    for (const title of titles) {
      await eventually(async () =>
        equal(await title.inputValue(), `Soon: ${TUNNEL} and on every ferry`)
      );
    }
    // Nobody takes the name from a card.
    await his!.fill("");
    await his!.press("Enter");
    await jonas.getByRole("button", { name: "Close the card" }).click();
    await tile(jonas, `Soon: ${TUNNEL} and on every ferry`).waitFor();
  },
);

browserTest(
  "demo: who writes in a note is named beneath it, and covers none of its words",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const maya = await openAs("maya", demo, await place.device());
    const jonas = await openAs("jonas", demo, await place.device());
    for (const page of [maya, jonas]) await tile(page, TUNNEL).click();
    await jonas.getByRole("textbox", { name: "Note" }).focus();
    await jonas.keyboard.type("From here");
    const name = maya.locator(".caret-names", { hasText: "Jonas" });
    await name.waitFor();
    await maya.locator(".caret").waitFor({ state: "attached" });
    const note = await maya.getByRole("textbox", { name: "Note" })
      .boundingBox();
    ok((await name.boundingBox())!.y >= note!.y + note!.height);
  },
);

browserTest(
  "demo: that the network is gone is said within two seconds, and taken back",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device();
    const page = await openAs("maya", demo, device);
    await settled(page);
    const badge = page.locator(".badge");
    const beganMs = performance.now();
    await device.setOffline(true);
    await badge.filter({ hasText: "Offline" }).waitFor({ timeout: 10_000 });
    const tookMs = performance.now() - beganMs;
    ok(tookMs < 2_000, `said after ${tookMs} ms`);
    await device.setOffline(false);
    await settled(page);
  },
);

/** Counts the frames in which a card stands elsewhere than in the one before. */
const WATCH = `globalThis.moves = 0;
let last = new Map();
const look = () => {
  const now = new Map([...document.querySelectorAll(".tile")].map((tile) => {
    const { left, top } = tile.getBoundingClientRect();
    return [tile.dataset.card, left + " " + top];
  }));
  if ([...now].some(([id, at]) => (last.get(id) ?? at) !== at)) moves++;
  last = now;
  requestAnimationFrame(look);
};
look();`;

browserTest(
  "demo: no card moves while a board comes in, first or again",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device();
    await device.addInitScript(WATCH);
    const page = await openAs("maya", demo, device);
    for (const load of ["first", "second"]) {
      await settled(page);
      await page.evaluate("document.fonts.ready");
      await page.locator(".lanes.is-still").waitFor();
      equal(await page.evaluate("moves"), 0, `frames of the ${load} load`);
      await page.reload();
      await page.waitForSelector(".tile");
    }
  },
);
