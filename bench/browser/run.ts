/**
 * Drives the pages: fills each database, opens it again and again in fresh
 * pages, then measures the rest in one.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { bundleOptions, textEntries } from "../../tools/browser/bundle.ts";
import { findBrowser } from "../../tools/browser/find.ts";
import { launch } from "../../tools/browser/launch.ts";
import { servePages } from "../../tools/browser/page_server.ts";
import { weigh } from "../../tools/browser/weigh.ts";
import type { Progress } from "../harness/progress.ts";
import { type Contestant, loadText, pageText } from "./contestants.ts";
import type { BenchPage, Budget } from "./page.ts";
import { type Collected, ours } from "./results.ts";

/** What is to be done. */
export interface Task {
  readonly contestants: readonly Contestant[];
  readonly size: number;
  readonly budget: Budget;
  readonly opens: number;
  readonly packages: string;
  readonly folder: string;
}

const root = new URL("../../", import.meta.url);
const manyCount = 1_000;
const manyRuns = 5;
const callMsMax = 600_000;

function fileNameOf({ name }: Contestant): string {
  return name.toLowerCase();
}

/** Bundles a page for each contestant, their workers, and the floor. */
async function bundlePages(task: Task, folder: string): Promise<void> {
  const texts: Record<string, string> = {
    floor: `export { floor } from "./bench/browser/floor_page.ts";`,
    opfs_floor: `import "./bench/browser/opfs_floor.ts";`,
  };
  for (const contestant of task.contestants) {
    const name = fileNameOf(contestant);
    texts[name] = pageText(contestant);
    if (contestant.worker !== undefined) {
      texts[`${name}_worker`] = contestant.worker;
    }
  }
  await esbuild.build({
    ...bundleOptions(),
    ...textEntries(texts, task.packages),
    minify: true,
    outdir: folder,
  });
}

/** The page of a contestant: each call runs there, and is over in bounded time. */
class RemotePage {
  readonly #page: Page;

  private constructor(page: Page) {
    this.#page = page;
  }

  static async open(browser: Browser, url: string): Promise<RemotePage> {
    const [context] = browser.contexts();
    if (context === undefined) throw new Error("The browser has no profile.");
    const page = await context.newPage();
    page.setDefaultTimeout(callMsMax);
    await page.goto(url);
    await page.waitForFunction("globalThis.sheafEntry");
    return new RemotePage(page);
  }

  call<Name extends keyof BenchPage>(
    name: Name,
    ...args: Parameters<BenchPage[Name]>
  ): Promise<Awaited<ReturnType<BenchPage[Name]>>> {
    const call = `sheafEntry.page.${name}(...${JSON.stringify(args)})`;
    return this.#page.evaluate(call);
  }

  floor(): Promise<{ worker: number[]; page: number[] }> {
    return this.#page.evaluate("sheafEntry.floor()");
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

/** Runs everything; what fails is written down, and the others go on. */
export async function run(
  task: Task,
  collected: Collected,
  progress: Progress,
): Promise<string> {
  const found = await findBrowser();
  if ("reason" in found) throw new Error(`No browser: ${found.reason}`);
  const pages = `${task.folder}/pages`;
  await bundlePages(task, pages);
  const launched = await launch(found, `${task.folder}/profile`, []);
  const browser = await chromium.connectOverCDP(launched.endpoint, {
    noDefaults: true,
  });
  try {
    progress.begin(task.contestants.length * (task.opens + 6));
    for (const contestant of task.contestants) {
      // Each has a port, and so an origin with storage, of its own.
      await using server = servePages(pages, { isIsolated: true });
      const url = `${server.url}/${fileNameOf(contestant)}.html`;
      const bench = new PageBench(browser, url, contestant, task, collected);
      try {
        await bench.run(progress);
        if (contestant.name === ours) {
          await measureFloor(browser, server.url, collected);
        }
      } catch (error) {
        const message = String(error).split("\n")[0] ?? "";
        collected.failures.push({ contestant: contestant.name, message });
      }
    }
  } finally {
    const session = await browser.newBrowserCDPSession();
    await session.send("Browser.close");
    await launched.ended;
  }
  return found.version;
}

/** Next to the writes that it is compared with. */
async function measureFloor(
  browser: Browser,
  url: string,
  collected: Collected,
): Promise<void> {
  const page = await RemotePage.open(browser, `${url}/floor.html`);
  const samples = await page.floor();
  collected.add("floor", "OPFS", ...samples.worker);
  collected.add("floorAsked", "OPFS", ...samples.page);
  await page.close();
}

/** The measures of one contestant. */
class PageBench {
  readonly #browser: Browser;
  readonly #url: string;
  readonly #contestant: Contestant;
  readonly #task: Task;
  readonly #collected: Collected;

  constructor(
    browser: Browser,
    url: string,
    contestant: Contestant,
    task: Task,
    collected: Collected,
  ) {
    this.#browser = browser;
    this.#url = url;
    this.#contestant = contestant;
    this.#task = task;
    this.#collected = collected;
  }

  async #inPage<T>(work: (page: RemotePage) => Promise<T>): Promise<T> {
    const page = await RemotePage.open(this.#browser, this.#url);
    try {
      return await work(page);
    } finally {
      await page.close();
    }
  }

  async run(progress: Progress): Promise<void> {
    const { size, opens } = this.#task;
    const { name } = this.#contestant;
    await this.#weigh();
    progress.step(`${name}: fill`);
    await this.#inPage((page) => page.call("fill", size));
    for (let turn = 0; turn < opens; turn++) {
      progress.step(`${name}: open`);
      await this.#inPage((page) => this.#open(page, turn % 3 === 2));
    }
    await this.#inPage((page) => this.#measure(page, progress));
  }

  /** Watching takes time of its own, so those openings are not timed. */
  async #open(page: RemotePage, isWatched: boolean): Promise<void> {
    const { name } = this.#contestant;
    const { size } = this.#task;
    const opened = await page.call("openAndAsk", size, isWatched);
    if (isWatched) {
      this.#collected.add("block", name, opened.longestBlockMs);
      return;
    }
    this.#collected.add("open", name, opened.ms);
    if (opened.afterUpMs !== undefined) {
      this.#collected.add("openAfterUp", name, opened.afterUpMs);
    }
  }

  async #measure(page: RemotePage, progress: Progress): Promise<void> {
    const { size, budget } = this.#task;
    const { name } = this.#contestant;
    const add = this.#collected.add.bind(this.#collected);
    const step = (what: string) => progress.step(`${name}: ${what}`);
    await page.call("open");
    step("read");
    add("ask", name, ...await page.call("ask"));
    add("get", name, ...await page.call("get", size, budget));
    step("durable writes");
    add("durable", name, ...await page.call("createDurable", size, budget));
    step("writes");
    const soon = size + 100_000;
    add("soon", name, ...await page.call("createSoon", soon, budget));
    step("many writes");
    for (let turn = 0; turn < manyRuns; turn++) {
      const from = size + 200_000 + turn * manyCount;
      const ms = await page.call("createMany", from, manyCount);
      add("many", name, ms / manyCount);
    }
    step("live");
    add("live", name, ...await page.call("live", budget));
    await page.call("close");
  }

  async #weigh(): Promise<void> {
    const { name, imports, worker } = this.#contestant;
    if (imports === "") return;
    const { chunks } = await weigh({
      entries: {
        page: loadText(this.#contestant),
        ...worker && { worker },
      },
      packages: this.#task.packages,
    });
    const bytes = chunks.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
    this.#collected.add("size", name, bytes / 1_000);
  }
}

/** Is there an entry for browsers in this checkout? */
export function isPublished(contestant: Contestant): boolean {
  const config = Deno.readTextFileSync(new URL("deno.json", root));
  const { exports } = JSON.parse(config);
  const [, name] = /"@sheaf\/sheaf\/([\w-]+)"/.exec(contestant.imports) ?? [];
  return name === undefined || Object.hasOwn(exports, `./${name}`);
}
