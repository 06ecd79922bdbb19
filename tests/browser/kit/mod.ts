/**
 * Tests in a real browser: `browserTest()` beside `Deno.test()`.
 *
 * A file of tests has one browser, launched by its first test. Each test has a
 * server, and so an origin with empty storage, of its own. Where no browser
 * runs, the tests are ignored, counted and named. Every wait has an end, and a
 * test that fails says what it waited for, and what pages and browser said.
 *
 * @module
 */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { RunningBrowser } from "./browser.ts";
import { bundled, endBundling } from "../../../tools/browser/bundle.ts";
import { Diary } from "./diary.ts";
import { browserOfRun } from "../../../tools/browser/find.ts";
import {
  type PageServer,
  servePages,
} from "../../../tools/browser/page_server.ts";
import { type Focus, openTab, type Tab } from "./tab.ts";
import { forgetWaits, pendingWaits, waitFor } from "./wait.ts";

export type {
  Browser,
  BrowserContext,
  CDPSession,
  Page,
} from "playwright-core";
export { killProcess } from "./browser.ts";
export type { Focus, Tab } from "./tab.ts";
export { eventually, until, waitFor } from "./wait.ts";

/** What a test in a browser is made of. */
export interface BrowserTestOptions {
  /** Scripts to bundle: `app` becomes `/app.js`, and `/app.html` loads it. */
  readonly entries: Readonly<Record<string, URL>>;
  /** Flags for the browser; a test with some has a browser of its own. */
  readonly args?: readonly string[];
  /** Which pages are visible; `"all"` by default, `"front"` as for users. */
  readonly focus?: Focus;
  /** Errors that no page caught do not fail the test. */
  readonly mayThrow?: boolean;
  /** After this the test hangs, and has failed; 180 by default. No measure of speed: machines are busy. */
  readonly secondsMax?: number;
}

const SECONDS_MAX = 180;
/** Closing what a test opened takes no longer; then the browser is killed. */
const END_SECONDS_MAX = 30;

const found = await browserOfRun();

/** Browsers of this file, by their flags. */
const running = new Map<string, { profile: string; browser: RunningBrowser }>();
const folders: string[] = [];

function makeFolder(): string {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-browser-" });
  folders.push(folder);
  return folder;
}

async function launch(profile: string, args: readonly string[]) {
  if ("reason" in found) throw new Error(found.reason);
  const browser = await RunningBrowser.launch(found, profile, args);
  running.set(args.join(" "), { profile, browser });
  return browser;
}

async function browserFor(args: readonly string[]): Promise<RunningBrowser> {
  const place = running.get(args.join(" "));
  if (place?.browser.browser.isConnected()) return place.browser;
  return await launch(place?.profile ?? makeFolder(), args);
}

/** What a test in a browser has in its hands. */
export class BrowserPlace {
  /** Where this test's pages are served. */
  readonly url: string;
  /** An empty folder; what a test writes there is served, too. */
  readonly folder: string;
  readonly diary = new Diary();
  readonly #args: readonly string[];
  readonly #focus: Focus;
  readonly #devices: BrowserContext[] = [];
  #running: RunningBrowser;

  constructor(
    server: PageServer,
    folder: string,
    browser: RunningBrowser,
    { args = [], focus = "all" }: BrowserTestOptions,
  ) {
    this.url = server.url;
    this.folder = folder;
    this.#running = browser;
    this.#args = args;
    this.#focus = focus;
    this.diary.watch(browser.context);
  }

  /** The browser's process and its debugging protocol. */
  get running(): RunningBrowser {
    return this.#running;
  }

  get browser(): Browser {
    return this.#running.browser;
  }

  /** The profile on disk: one device with all its tabs. */
  get context(): BrowserContext {
    return this.#running.context;
  }

  /** Opens `/<entry>.html` in a tab of its own and waits until the entry has run. */
  async open<Entry>(
    entry: string,
    { device = this.context, query = "" }: {
      readonly device?: BrowserContext;
      readonly query?: string;
    } = {},
  ): Promise<Tab<Entry>> {
    const url = `${this.url}/${entry}.html${query}`;
    const what = `a page for /${entry}.html`;
    const page = await waitFor(what, device.newPage());
    const name = this.diary.nameOf(page);
    return await openTab<Entry>(page, url, this.#focus, name);
  }

  /** Opens several tabs of one device, one after the other. */
  async openMany<Entry>(entry: string, count: number): Promise<Tab<Entry>[]> {
    const tabs: Tab<Entry>[] = [];
    while (tabs.length < count) tabs.push(await this.open<Entry>(entry));
    return tabs;
  }

  /** Another device: storage of its own, in memory, gone after the test. */
  async device(
    options: Parameters<Browser["newContext"]>[0] = {},
  ): Promise<BrowserContext> {
    const context = await this.browser.newContext(options);
    this.#devices.push(context);
    this.diary.watch(context);
    return context;
  }

  /** Kills the browser with SIGKILL and starts it again on the same profile and address. */
  async killAndRestart(): Promise<void> {
    await this.#running.kill();
    await this.restart();
  }

  /** Starts the browser again after its death; its earlier pages and contexts are gone. */
  async restart(): Promise<void> {
    this.#devices.length = 0;
    this.#running = await browserFor(this.#args);
    this.diary.watch(this.context);
  }

  /** Takes a picture into `folder`; by default, the repository's ignored `.data/screenshots`. */
  async screenshot(page: Page, name: string, folder?: string): Promise<string> {
    const place = folder ??
      new URL("../../../.data/screenshots", import.meta.url).pathname;
    const path = `${place}/${name}.png`;
    await page.screenshot({ path });
    return path;
  }

  /** Closes what the test opened. */
  async end(): Promise<void> {
    if (!this.browser.isConnected()) return;
    for (const device of this.#devices) await device.close();
    for (const page of this.context.pages()) await page.close();
  }
}

async function run(
  options: BrowserTestOptions,
  test: (place: BrowserPlace) => Promise<void>,
): Promise<void> {
  const { entries, args = [], secondsMax = SECONDS_MAX } = options;
  const hasEntries = Object.keys(entries).length > 0;
  const bundles = hasEntries ? [await bundled(entries)] : [];
  const browser = await browserFor(args);
  const folder = makeFolder();
  await using server = servePages([folder, ...bundles]);
  forgetWaits();
  const place = new BrowserPlace(server, folder, browser, options);
  try {
    await within(secondsMax, test(place));
    const [uncaught] = place.diary.uncaught;
    if (uncaught !== undefined && options.mayThrow !== true) {
      throw new Error(`a page threw what nobody caught: ${uncaught}`);
    }
  } catch (error) {
    throw place.diary.attachTo(error, place.running.said);
  } finally {
    await within(END_SECONDS_MAX, place.end()).catch(() =>
      place.running.kill()
    );
  }
}

async function within(seconds: number, work: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const waits = pendingWaits().map((wait) => `\n  waits for ${wait}`);
      const message = `not done after ${seconds} seconds${waits.join("")}`;
      reject(new Error(message));
    }, seconds * 1_000);
  });
  // What the test does after its time is up is nobody's error any more.
  work.catch(() => {});
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

let isHooked = false;

/** Ends this file's browsers after its last test. */
function hookEnd(): void {
  if (isHooked) return;
  isHooked = true;
  Deno.test.afterAll(async () => {
    for (const { browser } of running.values()) {
      await browser.close().catch(() => browser.kill());
    }
    await endBundling();
    for (const folder of folders) {
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    }
  });
}

/** A test in a real browser; `name` is a sentence as everywhere. */
export function browserTest(
  name: string,
  options: BrowserTestOptions,
  test: (place: BrowserPlace) => Promise<void>,
): void {
  hookEnd();
  Deno.test({
    name,
    ignore: "reason" in found,
    // The browser outlives the test that launched it.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: () => run(options, test),
  });
}
