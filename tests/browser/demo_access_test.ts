/**
 * The web demo for those who do not see it, or not well: axe-core finds nothing
 * serious on any view, light or dark; keys and announcements do what hands do.
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { demoPlace, openAs, settled, tile } from "./demo_place.ts";
import { browserTest, eventually, type Page } from "./kit/mod.ts";

const options = { entries: {} };
const axe = await Deno.readTextFile(
  new URL("../../node_modules/axe-core/axe.min.js", import.meta.url),
);

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly {
    readonly html: string;
    readonly failureSummary: string;
  }[];
}

/** What is asked of axe: everything, or colours alone, which a theme changes. */
type Asked = "all" | "colours";
/** Axe's rules about colours, but for that of AAA, which is not asked of light ones either. */
const COLOURS = ["color-contrast", "link-in-text-block"];

/** What axe calls serious or critical inside `part`. */
async function findings(
  page: Page,
  part = "body",
  asked: Asked = "all",
): Promise<string[]> {
  // What is still fading in has colours that nobody is meant to read.
  await page.evaluate(
    "Promise.allSettled(document.getAnimations().map((it) => it.finished)).then(() => undefined)",
  );
  await page.evaluate(`globalThis.axe ?? (() => { ${axe} })()`);
  const runOnly = asked === "all" ? {} : { runOnly: COLOURS };
  const options = { resultTypes: ["violations"], ...runOnly };
  const words = `${JSON.stringify(part)}, ${JSON.stringify(options)}`;
  const found = await page.evaluate<Finding[]>(
    `axe.run(${words}).then((result) => result.violations)`,
  );
  return found.filter(({ impact }) =>
    impact === "serious" || impact === "critical"
  )
    .map(({ id, nodes }) =>
      `${id}: ${
        nodes.map(({ html, failureSummary }) =>
          `${html.slice(0, 160)} ${failureSummary}`
        ).join(" | ")
      }`
    );
}

/** A view: its name, how one gets there, what is looked at, and how one gets away. */
interface View {
  readonly name: string;
  readonly part?: string;
  readonly show?: (page: Page) => Promise<unknown>;
  readonly leave?: (page: Page) => Promise<unknown>;
}

const TUNNEL = "Tickets must open in the tunnel";

async function openInspector(page: Page): Promise<void> {
  await page.keyboard.press("Alt+Shift+S");
  await inspectorTab("Commits")(page);
}

function inspectorTab(name: string) {
  return (page: Page) =>
    page.locator("sheaf-inspector").getByRole("tab", { name, exact: true })
      .click();
}

const stay = () => Promise.resolve();
const inspector = "sheaf-inspector";

const views: readonly View[] = [
  { name: "board" },
  {
    name: "filters",
    part: ".board-head",
    show: (page) => page.keyboard.press("f"),
    leave: (page) => page.keyboard.press("f"),
  },
  {
    name: "sync",
    part: ".popover",
    show: (page) => page.locator(".badge").click(),
  },
  {
    name: "people",
    part: ".popover",
    show: (page) => page.locator(".bar-people").click(),
  },
  {
    name: "oneself",
    part: ".popover",
    show: (page) => page.locator(".bar-me").click(),
  },
  {
    name: "keys",
    part: "dialog[open]",
    show: (page) => page.keyboard.press("?"),
  },
  {
    name: "card",
    part: "dialog[open]",
    show: (page) => tile(page, TUNNEL).click(),
    leave: stay,
  },
  {
    name: "history",
    part: "dialog[open]",
    show: (page) => page.getByRole("tab", { name: /History/ }).click(),
  },
  {
    name: "the past",
    part: "#board",
    show: (page) => page.keyboard.press("t"),
    leave: (page) => page.keyboard.press("t"),
  },
  { name: "commits", part: inspector, show: openInspector, leave: stay },
  ...["Data", "Query", "Rules", "Order", "Live queries", "Sync", "Latency"].map(
    (
      name,
    ) => ({
      name,
      part: inspector,
      show: inspectorTab(name),
      leave: stay,
    }),
  ),
];

async function leave(page: Page, { part }: View): Promise<void> {
  await page.keyboard.press("Escape");
  if (part === undefined) return;
  await page.locator(part).waitFor({ state: "detached" });
}

/** Goes through views and looks at each. */
async function lookAt(
  page: Page,
  views: readonly View[],
  look: (view: View) => Promise<void>,
): Promise<void> {
  for (const view of views) {
    await view.show?.(page);
    if (view.part !== undefined) await page.locator(view.part).waitFor();
    await look(view);
    if (view.leave !== undefined) await view.leave(page);
    else await leave(page, view);
  }
}

for (
  const [colorScheme, asked] of [["light", "all"], ["dark", "colours"]] as const
) {
  browserTest(
    `demo: axe finds nothing serious on any view, ${colorScheme}`,
    options,
    async (place) => {
      await using demo = await demoPlace({ hasInspector: true });
      const device = await place.device({
        colorScheme,
        reducedMotion: "reduce",
        viewport: { width: 1280, height: 860 },
      });
      const page = await device.newPage();
      await page.goto(demo.url);
      await page.getByText("Who are you today?").waitFor();
      const signIn = await findings(page, "body", asked);
      deepEqual(["sign-in", signIn], ["sign-in", []]);
      await page.close();
      const board = await openAs("maya", demo, device);
      await settled(board);
      await lookAt(board, views, async ({ name, part }) => {
        deepEqual([name, await findings(board, part, asked)], [name, []]);
      });
    },
  );
}

/** What can be touched and is smaller than 44 px, or reaches out of the page. */
const misfits = `(() => {
  const found = [];
  const all = "button, input:not([type=radio]), [role=tab], a[href]:not(.skip)";
  for (const each of document.querySelectorAll(all)) {
    // A switch is touched by its words as well.
    const box = (each.closest("label") ?? each).getBoundingClientRect();
    const style = getComputedStyle(each);
    if (box.width === 0 || style.visibility === "hidden") continue;
    if (each.closest(".lane-head") !== null) continue; // For screen readers on phones.
    const name = each.getAttribute("aria-label") ?? each.textContent;
    if (box.width < 43.5 || box.height < 43.5) {
      found.push(name + " " + each.className + ": " + box.width + " x " + box.height);
    }
  }
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is too wide");
  for (const each of document.querySelectorAll(".popover, dialog[open], .time, .board-head, .bar")) {
    if (each.scrollWidth > each.clientWidth + 1) found.push(each.className + " is too wide");
  }
  return found;
})()`;

const phoneViews: readonly View[] = [
  { name: "board" },
  {
    name: "filters",
    part: ".board-head",
    show: (page) => page.getByTitle("Filters (F)").click(),
    leave: (page) => page.getByTitle("Filters (F)").click(),
  },
  ...views.filter(({ name }) => name === "sync" || name === "oneself"),
  {
    name: "people",
    part: ".popover",
    show: async (page) => {
      await page.locator(".bar-me").click();
      await page.getByRole("button", { name: "Team" }).click();
    },
  },
  {
    name: "the past",
    part: ".time",
    show: (page) => page.getByTitle("Back in time (T)").click(),
    leave: (page) => page.getByTitle("Back in time (T)").click(),
  },
  {
    name: "card",
    part: "dialog[open]",
    show: (page) => page.locator(".tile").first().click(),
  },
];

for (const [person, width] of [["sam", 390], ["maya", 320]] as const) {
  browserTest(
    `demo: on a phone ${width} px wide axe finds nothing serious, and fingers find everything, as ${person}`,
    options,
    async (place) => {
      await using demo = await demoPlace();
      const device = await place.device({
        viewport: { width, height: 700 },
        hasTouch: true,
        isMobile: true,
        reducedMotion: "reduce",
      });
      const page = await openAs(person, demo, device);
      await settled(page);
      await lookAt(page, phoneViews, async ({ name, part }) => {
        deepEqual([name, await page.evaluate(misfits)], [name, []]);
        deepEqual([name, await findings(page, part)], [name, []]);
      });
    },
  );
}

browserTest(
  "demo: dialogs keep the focus, and give it back",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const isInside = (selector: string) =>
      page.evaluate<boolean>(
        `document.activeElement?.closest(${JSON.stringify(selector)}) !== null`,
      );
    for (
      const [button, box] of [[".badge", ".popover"], [".bar-me", ".popover"]]
    ) {
      await page.locator(button!).focus();
      await page.keyboard.press("Enter");
      await eventually(async () => equal(await isInside(box!), true));
      for (let i = 0; i < 12; i++) {
        equal(await isInside(box!), true, `${button}, after ${i} tabs`);
        await page.keyboard.press("Tab");
      }
      await page.keyboard.press("Shift+Tab");
      equal(await isInside(box!), true, button);
      await page.keyboard.press("Escape");
      equal(await isInside(button!), true, `${button} has it again`);
    }
    await tile(page, "Stop rounding walking times down").focus();
    await page.keyboard.press("?");
    await page.locator("dialog.keys").waitFor();
    await page.keyboard.press("Escape");
    await eventually(async () => equal(await isInside(".tile"), true));
  },
);

browserTest(
  "demo: the keyboard carries a card, and the page says where it is",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const page = await openAs("maya", demo, await place.device());
    await settled(page);
    const said = page.locator("p[aria-live=polite]");
    const says = (words: RegExp) =>
      eventually(async () => match(await said.innerText(), words));
    const title = "Stop rounding walking times down";
    await tile(page, title).focus();
    await page.keyboard.press("Space");
    await says(/Picked up Stop rounding/);
    await page.keyboard.press("ArrowLeft");
    await says(/Doing, place \d of 6/);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Escape");
    await says(/Put back/);
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Space");
    await says(/Dropped Stop rounding walking times down in Done/);
    // The focus goes along.
    await eventually(async () =>
      match(
        await page.evaluate("document.activeElement.textContent"),
        /Stop rounding/,
      )
    );
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: title }).waitFor();
    await page.keyboard.press("Escape");
    await eventually(async () =>
      match(
        await page.evaluate("document.activeElement.textContent"),
        /Stop rounding/,
      )
    );
  },
);
