/**
 * Runs a part in a real Chromium, started for it alone with an empty profile.
 *
 * @module
 */

import { type Browser, chromium } from "playwright-core";
import { bundle, endBundling } from "../../tools/browser/bundle.ts";
import { findBrowser, type FoundBrowser } from "../../tools/browser/find.ts";
import { launch } from "../../tools/browser/launch.ts";
import { servePages } from "../../tools/browser/page_server.ts";
import { NotHere, type Outcome } from "../harness/suite.ts";
import type { PartOrder } from "./part.ts";

const workers: Readonly<Record<string, string>> = {
  "sheaf-opfs": "/browser_worker.js",
  "sheaf-indexeddb": "/indexeddb_worker.js",
};
const callMsMax = 100_000;

/** Runs a part; `folder` takes scripts and profile. */
export async function runInBrowser(
  engine: string,
  order: PartOrder,
  folder: string,
): Promise<Outcome[]> {
  const found = await findBrowser();
  if ("reason" in found) throw new NotHere(`no browser: ${found.reason}`);
  const worker = workers[engine];
  if (worker === undefined) throw new RangeError(`${engine} is in no browser`);
  const pages = `${folder}/pages`;
  try {
    await bundle(
      Object.fromEntries(
        ["browser_page", "browser_worker", "indexeddb_worker"].map((name) => [
          name,
          new URL(`${name}.ts`, import.meta.url),
        ]),
      ),
      pages,
      { minify: true, sourcemap: false },
    );
  } finally {
    await endBundling();
  }
  // Isolated pages have clocks of 5 µs.
  await using server = servePages(pages, { isIsolated: true });
  return await inBrowser(found, `${folder}/profile`, async (browser) => {
    const [context] = browser.contexts();
    if (context === undefined) throw new Error("The browser has no profile.");
    const page = await context.newPage();
    page.setDefaultTimeout(callMsMax);
    await page.goto(`${server.url}/browser_page.html`);
    await page.waitForFunction("globalThis.sheafEntry");
    const args = JSON.stringify([worker, order]).slice(1, -1);
    const outcomes = await page.evaluate<Outcome[]>(`sheafEntry.run(${args})`);
    await page.close();
    return outcomes;
  });
}

async function inBrowser<T>(
  found: FoundBrowser,
  profile: string,
  work: (browser: Browser) => Promise<T>,
): Promise<T> {
  const launched = await launch(found, profile, []);
  const browser = await chromium.connectOverCDP(launched.endpoint, {
    noDefaults: true,
  });
  try {
    return await work(browser);
  } finally {
    const session = await browser.newBrowserCDPSession();
    await session.send("Browser.close");
    await launched.ended;
  }
}
