/**
 * The web demo, driven as its users drive it.
 */

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import {
  boardOf,
  demoPlace,
  openAs,
  setOffline,
  settled,
  tile,
} from "./demo_place.ts";
import { browserTest, eventually } from "./kit/mod.ts";

const options = { entries: {} };
const TUNNEL = "Tickets must open in the tunnel";
const DOGS = "Rewrite the three sentences about dogs";

browserTest(
  "demo: two who work offline on both sides agree when they are back",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const maya = await openAs("maya", demo, await place.device());
    const jonas = await openAs("jonas", demo, await place.device());
    for (const page of [maya, jonas]) await settled(page);
    for (const page of [maya, jonas]) await setOffline(page, true);

    // Both move a card to the same place, both write into one note.
    await tile(maya, DOGS).focus();
    for (const key of ["Space", "ArrowRight", "Space"]) {
      await maya.keyboard
        .press(key);
    }
    await tile(jonas, "Ask before sending").focus();
    for (const key of ["Space", "ArrowRight", "Space"]) {
      await jonas.keyboard
        .press(key);
    }
    for (
      const [page, words] of [[maya, "From Maya. "], [
        jonas,
        "From Jonas. ",
      ]] as const
    ) {
      await tile(page, TUNNEL).click();
      const note = page.getByRole("textbox", { name: "Note" });
      await note.focus();
      await page.keyboard.press("Control+Home");
      await page.keyboard.type(words);
      await page.getByRole("button", { name: "Close the card" }).click();
    }
    await jonas.getByRole("button", { name: "Add a card" }).nth(1).click();
    await jonas.keyboard.type("Written in the tunnel");
    await jonas.keyboard.press("Enter");
    await jonas.keyboard.press("Escape");
    for (const page of [maya, jonas]) {
      await page.locator(".badge", { hasText: /Offline, \d unsent/ }).waitFor();
    }
    notEqual(
      JSON.stringify(await boardOf(maya)),
      JSON.stringify(await boardOf(jonas)),
    );

    for (const page of [maya, jonas]) await setOffline(page, false);
    for (const page of [maya, jonas]) await settled(page);
    await eventually(async () => {
      const [hers, his] = [await boardOf(maya), await boardOf(jonas)];
      deepEqual(hers, his);
      ok(hers["Doing"]?.includes(DOGS), JSON.stringify(hers));
      ok(Object.values(hers).flat().includes("Written in the tunnel"));
    });
    for (const page of [maya, jonas]) await tile(page, TUNNEL).click();
    await eventually(async () => {
      const [hers = "", his] = await Promise.all(
        [maya, jonas].map((page) =>
          page.getByRole("textbox", { name: "Note" }).inputValue()
        ),
      );
      equal(hers, his);
      match(hers, /From Maya\. /);
      match(hers, /From Jonas\. /);
    });
  },
);

browserTest(
  "demo: who wrote to a card that was deleted meanwhile hears of it, and brings it back",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const maya = await openAs("maya", demo, await place.device());
    const jonas = await openAs("jonas", demo, await place.device());
    for (const page of [maya, jonas]) await settled(page);
    // Who never wrote here would be refused: nobody begins with what is gone.
    await jonas.getByRole("button", { name: "Add a card" }).first().click();
    await jonas.keyboard.type("Of Jonas");
    await jonas.keyboard.press("Enter");
    await jonas.keyboard.press("Escape");
    await tile(maya, "Of Jonas").waitFor();
    await setOffline(jonas, true);
    await tile(jonas, TUNNEL).click();
    const title = jonas.getByRole("textbox", { name: "Title" });
    await title.fill("Tickets open in every tunnel");
    await title.press("Enter");
    await jonas.getByRole("button", { name: "Close the card" }).click();
    await tile(maya, TUNNEL).click();
    await maya.getByRole("button", { name: "Delete the card" }).click();
    await settled(maya);

    await setOffline(jonas, false);
    const note = jonas.locator(".note", { hasText: "while you changed it" });
    await note.waitFor();
    match(
      await note.innerText(),
      /Maya deleted “Tickets open in every tunnel”/,
    );
    await note.getByRole("button", { name: "Restore mine" }).click();
    for (const page of [maya, jonas]) {
      await tile(page, "Tickets open in every tunnel").waitFor();
    }
  },
);

browserTest(
  "demo: a card is dragged by mouse, and everybody sees where it went",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const maya = await openAs(
      "maya",
      demo,
      await place.device({ viewport: { width: 1440, height: 900 } }),
    );
    const ines = await openAs("ines", demo, await place.device());
    for (const page of [maya, ines]) await settled(page);
    const from =
      (await tile(maya, "Price table in Northern Sami").boundingBox())!;
    const to = (await tile(maya, TUNNEL).boundingBox())!;
    await maya.mouse.move(from.x + 60, from.y + 20);
    await maya.mouse.down();
    await maya.mouse.move(to.x + 80, to.y + 60, { steps: 8 });
    await maya.locator(".gap").waitFor();
    await ines.getByText("Maya is moving this").waitFor();
    await maya.mouse.move(to.x + 80, to.y + 6, { steps: 4 });
    await maya.mouse.up();
    await eventually(async () => {
      const { Doing, Review } = await boardOf(ines);
      equal(Doing?.[0], "Price table in Northern Sami");
      ok(!Review?.includes("Price table in Northern Sami"));
    });
    equal(await maya.locator("dialog[open]").count(), 0);

    await maya.keyboard.press("Control+z");
    await eventually(async () =>
      equal(
        (await boardOf(ines))["Review"]?.[0],
        "Price table in Northern Sami",
      )
    );
    await maya.keyboard.press("Control+Shift+z");
    await eventually(async () =>
      equal((await boardOf(ines))["Doing"]?.[0], "Price table in Northern Sami")
    );
  },
);

browserTest(
  "demo: a finger drags after a hold, and scrolls without one",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device({
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const page = await openAs("maya", demo, device);
    await settled(page);
    const cdp = await device.newCDPSession(page);
    const touch = (type: string, x?: number, y?: number) =>
      cdp.send("Input.dispatchTouchEvent", {
        type: type as "touchStart",
        touchPoints: x === undefined || y === undefined ? [] : [{ x, y }],
      });
    const before = await boardOf(page);
    const [first = "", second = "", third = ""] = before["Ideas"] ?? [];
    const from = (await tile(page, first).boundingBox())!;
    const to = (await tile(page, second).boundingBox())!;
    await touch("touchStart", from.x + 90, from.y + 30);
    await page.locator(".dragged").waitFor();
    for (let y = from.y + 30; y < to.y + to.height; y += 12) {
      await touch(
        "touchMove",
        from.x + 90,
        y,
      );
    }
    await touch("touchEnd");
    await eventually(async () =>
      deepEqual((await boardOf(page))["Ideas"]?.slice(0, 3), [
        second,
        first,
        third,
      ])
    );

    const list = page.locator(".lane-cards").first();
    // Nobody waits in between: a finger that rests is one that drags.
    const steps = Array.from({ length: 15 }, (_, step) => 600 - step * 20);
    await Promise.all([
      touch("touchStart", 180, 600),
      ...steps.map((y) => touch("touchMove", 180, y)),
      touch("touchEnd"),
    ]);
    await eventually(async () =>
      ok(
        await list.evaluate((element: { scrollTop: number }) =>
          element.scrollTop
        ) > 20,
      )
    );
    equal((await boardOf(page))["Ideas"]?.[0], second);
  },
);

browserTest(
  "demo: what the server refuses is undone, said, and settled by its author",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("jonas", demo, await place.device());
    await settled(page);
    await tile(page, DOGS).click();
    const title = page.getByRole("textbox", { name: "Title" });
    await title.fill("Use sk_live_abcdef0123456789 for the terminal");
    await title.press("Enter");
    const badge = page.locator(".badge");
    await eventually(async () => match(await badge.innerText(), /1 refused/));
    equal(await title.inputValue(), DOGS);
    await page.getByRole("button", { name: "Close the card" }).click();
    await badge.click();
    const refusal = page.locator(".refusal");
    match(await refusal.innerText(), /looks like a secret key/);
    match(await refusal.innerText(), /wrote in the title/);
    await refusal.getByRole("button", { name: "Try again" }).click();
    await eventually(async () => equal(await refusal.count(), 1));
    await refusal.getByRole("button", { name: "Discard" }).click();
    await eventually(async () => match(await badge.innerText(), /Saved/));
  },
);

browserTest(
  "demo: who may not is told why, before and when they try",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("sam", demo, await place.device());
    await settled(page);
    const before = await boardOf(page);
    await tile(page, DOGS).focus();
    await page.keyboard.press("Space");
    await page.locator(".note", { hasText: "Guests may read and comment" })
      .waitFor();
    await tile(page, DOGS).click();
    match(
      await page.locator(".fields-why").innerText(),
      /Only members and leads may change cards/,
    );
    equal(
      await page.getByRole("textbox", { name: "Title" }).getAttribute(
        "readonly",
      ),
      "",
    );
    await page.getByRole("textbox", { name: "Your comment" }).fill(
      "We have dogs every day.",
    );
    await page.keyboard.press("Enter");
    await page.locator(".comment", { hasText: "We have dogs every day." })
      .waitFor();
    await page.getByRole("button", { name: "Close the card" }).click();
    await settled(page);
    deepEqual(await boardOf(page), before);
  },
);

browserTest(
  "demo: history names who did what, and the slider shows the board as it was",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const now = await boardOf(page);
    await tile(page, TUNNEL).click();
    match(
      await page.locator(".field", { hasText: "Column" }).locator(".blame")
        .innerText(),
      /^(Jonas|Maya), /,
    );
    await page.getByRole("tab", { name: /History/ }).click();
    const entries = page.locator(".entry");
    match(await entries.first().innerText(), /Jonas moved it to Doing/);
    match(await entries.last().innerText(), /Maya added .*to Ideas/);
    await entries.last().getByRole("button", {
      name: /Show the board as it was/,
    }).click();
    await page.locator(".time").waitFor();
    ok((await boardOf(page))["Ideas"]!.includes(TUNNEL));
    notEqual(JSON.stringify(await boardOf(page)), JSON.stringify(now));
    await page.getByRole("button", { name: "Back to now" }).click();
    await eventually(async () => deepEqual(await boardOf(page), now));
    await page.keyboard.press("t");
    await page.getByRole("button", { name: "Play what happened" }).click();
    await page.keyboard.press("Escape");
    await page.locator(".time").waitFor({ state: "detached" });
    await eventually(async () => deepEqual(await boardOf(page), now));
  },
);

browserTest(
  "demo: search and filters leave what fits, as one types",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    await page.keyboard.press("/");
    await page.keyboard.type("TUNNEL");
    await eventually(async () =>
      deepEqual(Object.values(await boardOf(page)).flat(), [TUNNEL])
    );
    equal(await page.locator("mark").innerText(), "tunnel");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("aiko interviews");
    await eventually(async () =>
      deepEqual(Object.values(await boardOf(page)).flat(), [
        "Interviews with night-shift nurses",
      ])
    );
    await page.keyboard.press("Control+A");
    await page.keyboard.press("Backspace");
    await page.keyboard.press("Escape");
    await page.keyboard.press("f");
    await page.getByRole("button", { name: "Aiko Tanaka", exact: true })
      .click();
    await page.getByRole("combobox", { name: "When it is due" }).press(
      "ArrowDown",
    );
    await page.keyboard.type("this");
    await page.keyboard.press("Enter");
    await eventually(async () =>
      deepEqual((await boardOf(page))["Doing"], [
        "Interviews with night-shift nurses",
      ])
    );
    await page.getByRole("button", { name: "Show everything" }).click();
    await eventually(async () =>
      ok((await boardOf(page))["Doing"]!.length > 3)
    );
  },
);
