/**
 * The web demo by keys alone, and magnified: nothing that is shown is out of
 * reach, and the focus is never lost.
 */

import { equal, match, notEqual, ok } from "node:assert/strict";
import { demoPlace, openAs, settled, tile } from "./demo_place.ts";
import { browserTest, eventually, type Page } from "./kit/mod.ts";

const options = { entries: {} };
const TUNNEL = "Tickets must open in the tunnel";

function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    `(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent).trim()`,
  );
}

browserTest(
  "demo: arrows step from what happened to what happened, and T leads back",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const words = page.locator(".time-moment");
    await page.keyboard.press("t");
    await words.waitFor();
    await eventually(async () => equal(await focused(page), "Moment"));
    const seen = [await words.innerText()];
    for (const key of ["ArrowLeft", "ArrowDown", "ArrowLeft"]) {
      await page.keyboard.press(key);
      const before = seen.at(-1)!;
      await eventually(async () => notEqual(await words.innerText(), before));
      seen.push(await words.innerText());
    }
    for (const key of ["ArrowRight", "ArrowUp"]) {
      await page.keyboard.press(key);
      const before = seen.at(-1)!;
      await eventually(async () => notEqual(await words.innerText(), before));
      seen.push(await words.innerText());
    }
    // There and back are the same moments.
    equal(seen[4], seen[2]);
    equal(seen[5], seen[1]);
    await page.keyboard.press("t");
    await words.waitFor({ state: "detached" });
    equal(await focused(page), "Back in time");
  },
);

browserTest(
  "demo: a composer that is closed gives the focus to its column",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    for (const key of ["Escape", "Enter"]) {
      await tile(page, TUNNEL).focus();
      await page.keyboard.press("n");
      await page.locator(".composer textarea").waitFor();
      await page.keyboard.press(key);
      await eventually(async () => equal(await focused(page), "Add a card"));
      const lane = await page.evaluate(
        `document.activeElement.closest("[data-lane]").querySelector("h2").textContent`,
      );
      equal(lane, "Doing");
    }
  },
);

browserTest(
  "demo: a day and a column are chosen with keys alone, and Escape takes nothing along",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    await tile(page, TUNNEL).press("Enter");
    const card = page.locator("dialog[open]");
    const due = card.getByRole("button", { name: /^Due/ });
    await due.press("Enter");
    const calendar = card.getByRole("dialog", { name: "Choose a day" });
    await calendar.getByRole("button", { name: "Today" }).click();
    await calendar.waitFor({ state: "hidden" });
    const today = await due.innerText();
    await due.press("Enter");
    for (const key of ["PageDown", "PageUp", "ArrowRight", "Escape"]) {
      await page.keyboard.press(key);
    }
    await calendar.waitFor({ state: "hidden" });
    equal(await due.innerText(), today);
    equal(await card.count(), 1);
    equal(await card.locator("button:focus").innerText(), today);
    await due.press("Enter");
    for (const key of ["ArrowDown", "ArrowRight", "Enter"]) {
      await page.keyboard.press(key);
    }
    await eventually(async () => {
      const inMs = Date.parse(`${await due.innerText()} UTC`) -
        Date.parse(`${today} UTC`);
      equal(inMs, 8 * 86_400_000);
    });

    const column = card.getByRole("combobox", { name: "Column" });
    await column.press("ArrowDown");
    await page.keyboard.type("don");
    await page.keyboard.press("Escape");
    equal(await column.innerText(), "Doing");
    await column.press("Enter");
    await page.keyboard.type("don");
    await page.keyboard.press("Enter");
    await eventually(async () => equal(await column.innerText(), "Done"));
    await page.keyboard.press("Escape");
    await card.waitFor({ state: "detached" });
  },
);

browserTest(
  "demo: who does not see a tile hears for whom it is",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await page.getByRole("button", {
      name:
        /Tickets must open in the tunnel.* 3 comments for Jonas Weber, Priya Raman$/,
    }).waitFor();
  },
);

browserTest(
  "demo: magnified four times, cards are reached and carried, and their place is seen",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device({
      viewport: { width: 320, height: 256 },
      reducedMotion: "reduce",
    });
    const page = await openAs("maya", demo, device);
    await settled(page);
    const first = page.locator(".tile").first();
    await first.focus();
    const { y, height } = (await first.boundingBox())!;
    ok(y >= 0 && y + Math.min(height, 40) <= 256, `the card is at ${y}`);
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    const gap = page.locator(".gap");
    await gap.waitFor({ state: "visible" });
    await page.keyboard.press("Escape");
    await gap.waitFor({ state: "detached" });
    await page.evaluate("scrollTo(0, 0)");
    await first.click();
    match(
      await page.locator("dialog[open]").getAttribute("aria-label") ?? "",
      /./,
    );
  },
);

browserTest(
  "demo: Ctrl K finds cards of other boards, and does what it names",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const asked = page.getByRole("combobox", { name: /^Find a card/ });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("gulls motion");
    await eventually(async () =>
      equal(await page.getByRole("option").count(), 1)
    );
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Gulls set off the motion sensor" })
      .waitFor();
    await page.getByRole("button", { name: "Close the card" }).click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("no such thing");
    await page.getByText("Nothing is called that.").waitFor();
    await page.keyboard.press("Escape");
    await asked.waitFor({ state: "detached" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("back in");
    await page.keyboard.press("Enter");
    await page.locator(".time-moment").waitFor();
  },
);

browserTest(
  "demo: cards picked by X are given to somebody and labelled together, and undone as one",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const both = [tile(page, TUNNEL), tile(page, "sentences about dogs")]
      .map((card) => card.first());
    for (const card of both) {
      await card.focus();
      await page.keyboard.press("x");
    }
    equal(await page.locator(".tile.is-picked").count(), 2);
    await page.keyboard.press("a");
    await page.keyboard.type("maya");
    await page.keyboard.press("Enter");
    const hers = page.locator(".tile.is-picked", { hasText: /Maya/ });
    await eventually(async () => equal(await hers.count(), 2));
    equal(await focused(page), (await both[1]!.textContent())!.trim());
    await page.keyboard.press("Control+z");
    await eventually(async () => equal(await hers.count(), 0));
    await page.keyboard.press("Escape");
    await eventually(async () =>
      equal(await page.locator(".tile.is-picked").count(), 0)
    );
  },
);
