/**
 * The web demo without its server: from a cold start, and over a new version.
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  boardOf,
  type DemoPlace,
  demoPlace,
  openAs,
  setOffline,
  settled,
} from "./demo_place.ts";
import { browserTest, eventually, type Page } from "./kit/mod.ts";

const options = { entries: {} };

/** Waits until the service worker has everything. */
async function kept(page: Page): Promise<void> {
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
}

browserTest("demo: starts cold without its server", options, async (place) => {
  const demo = await demoPlace();
  const device = await place.device();
  const page = await openAs("maya", demo, device);
  await settled(page);
  await kept(page);
  await demo.demo.server.close();
  const board = await boardOf(page);
  await page.close();

  const again = await device.newPage();
  const answer = await again.goto(`${demo.url}/?as=maya`);
  equal(answer?.status(), 200);
  ok(answer?.fromServiceWorker());
  await again.waitForSelector(".tile");
  deepEqual(await boardOf(again), board);
  await eventually(async () =>
    match(await again.locator(".badge").innerText(), /Offline/)
  );
  await again.getByRole("button", { name: "Add a card to Ideas" }).click();
  await again.keyboard.type("Written without a server");
  await again.keyboard.press("Enter");
  await eventually(async () =>
    match(await again.locator(".badge").innerText(), /Offline, 1 unsent/)
  );

  // The server comes back, and has it a moment later.
  await using later = await demoPlace({ before: demo });
  equal(later.demo.steps, 0);
  await settled(again);
  const other = await openAs("ines", later, await place.device());
  await eventually(async () =>
    ok((await boardOf(other))["Ideas"]?.includes("Written without a server"))
  );
});

/** Puts another build where this one was, and tells the page; gives the name of a file that is gone. */
async function deploy({ folder }: DemoPlace, page: Page): Promise<string> {
  const pages = `${folder}/pages`;
  const html = await Deno.readTextFile(`${pages}/index.html`);
  const worker = await Deno.readTextFile(`${pages}/sw.js`);
  const [name = ""] = /app-\w+\.js/.exec(html) ?? [];
  await Deno.copyFile(`${pages}/${name}`, `${pages}/app-NEWER.js`);
  await Deno.remove(`${pages}/${name}`);
  await Deno.writeTextFile(
    `${pages}/index.html`,
    html.replace(name, "app-NEWER.js"),
  );
  const version = /stook-\$\{"(\w+)"\}|"?stook-([0-9a-f]{16})/.exec(worker);
  ok(version, worker);
  const old = (version[1] ?? version[2])!;
  const next = worker.replaceAll(name, "app-NEWER.js")
    .replaceAll(old, "feedfeedfeedfeed");
  await Deno.writeTextFile(`${pages}/sw.js`, next);
  await page.evaluate(
    "navigator.serviceWorker.getRegistration().then((it) => it.update()).then(() => undefined)",
  );
  return name;
}

browserTest(
  "demo: a new version is told, taken when wanted, and never mixed with the old",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device();
    const page = await openAs("maya", demo, device);
    await settled(page);
    await kept(page);
    const scripts = () =>
      page.evaluate<string>("document.querySelector('script[src]').src");
    const before = await scripts();
    await deploy(demo, page);
    const note = page.locator(".note", { hasText: "A new version is here" });
    await note.waitFor();
    // Until it is taken, the old page goes on whole, though its files are gone from the server.
    await page.reload();
    await page.waitForSelector(".tile");
    equal(await scripts(), before);
    await note.waitFor();
    await note.getByRole("button", { name: "Use it" }).click();
    await eventually(async () => match(await scripts(), /app-NEWER\.js$/));
    await page.waitForSelector(".tile");
    equal(
      await page.evaluate("caches.keys().then((names) => names.join())"),
      "stook-feedfeedfeedfeed",
    );
  },
);

browserTest(
  "demo: a page that goes on with the version before finds its parts",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device();
    const page = await openAs("maya", demo, device);
    await settled(page);
    await kept(page);
    const other = await openAs("maya", demo, device);
    const name = await deploy(demo, page);
    await page.getByRole("button", { name: "Use it" }).click();
    await eventually(async () =>
      match(
        await page.evaluate<string>(
          "document.querySelector('script[src]').src",
        ),
        /app-NEWER\.js$/,
      )
    );
    const part = `fetch("/${name}").then(({ status }) => status)`;
    equal(await other.evaluate(part), 200);
    equal(
      await other.evaluate(
        'fetch("/app-AAAAAAAA.js").then(({ status }) => status)',
      ),
      404,
    );
    // Nothing waits any more, and it may still go over.
    await other.getByRole("button", { name: "Use it" }).click();
    await eventually(async () =>
      match(
        await other.evaluate<string>(
          "document.querySelector('script[src]').src",
        ),
        /app-NEWER\.js$/,
      )
    );
  },
);

browserTest(
  "demo: pages of one device share its boards, also when the one that keeps them closes",
  options,
  async (place) => {
    await using demo = await demoPlace();
    const device = await place.device();
    const first = await openAs("maya", demo, device);
    await settled(first);
    const second = await openAs("maya", demo, device);
    await settled(second);
    await setOffline(first, true);
    await first.getByRole("button", { name: "Add a card to Ideas" }).click();
    await first.keyboard.type("From the first page");
    await first.keyboard.press("Enter");
    await eventually(async () =>
      ok((await boardOf(second))["Ideas"]?.includes("From the first page"))
    );
    await first.close();

    await second.getByRole("button", { name: "Add a card to Ideas" }).click();
    await second.keyboard.type("From the second page");
    await second.keyboard.press("Enter");
    const both = ["From the first page", "From the second page"];
    const hasBoth = async (page: Page) => {
      const ideas = (await boardOf(page))["Ideas"] ?? [];
      deepEqual(ideas.filter((title) => both.includes(title)), both);
    };
    await eventually(() => hasBoth(second));
    // What is seen is safe once another page's worker has taken the files over.
    const asks =
      `!dispatchEvent(new Event("beforeunload", { cancelable: true }))`;
    await eventually(async () => equal(await second.evaluate(asks), false));
    await second.reload();
    await second.waitForSelector(".tile");
    await settled(second);
    await eventually(() => hasBoth(second));
  },
);
