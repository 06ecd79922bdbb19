/**
 * The web demo for tests: a server with its page and boards in a folder that is
 * gone afterwards, and people who have it open.
 *
 * @module
 */

import { keptFolder } from "../../tools/browser/kept.ts";
import { buildDemo, endBuilding } from "../../web-demo/build.ts";
import { type Demo, serveDemo, startDemo } from "../../web-demo/serve.ts";
import type { BrowserContext, Page } from "./kit/mod.ts";

/** A demo that runs for one test. */
export interface DemoPlace extends AsyncDisposable {
  readonly demo: Demo;
  readonly url: string;
  readonly folder: string;
}

const HOUR_MS = 3_600_000;

/**
 * A folder with the team's weeks in it, and the page: they are played, and it is
 * built, once for all files, and copied for each test. The weeks end now, so they
 * are played anew every hour.
 */
async function filledFolder(hasInspector: boolean): Promise<string> {
  const hour = Math.floor(Date.now() / HOUR_MS);
  const filled = await keptFolder("demo", `${hour}`, fillFolder);
  const folder = await Deno.makeTempDir({ prefix: "sheaf-demo-" });
  await copyFolder(`${filled}/server`, `${folder}/server`);
  const built = hasInspector
    ? await keptFolder("demo-inspector", "", (pages) => build(pages, true))
    : `${filled}/pages`;
  await copyFolder(built, `${folder}/pages`);
  return folder;
}

async function fillFolder(folder: string): Promise<void> {
  const { server } = await startDemo({ folder, port: 0 });
  await server.close();
  await endBuilding();
}

async function build(folder: string, hasInspector: boolean): Promise<void> {
  await buildDemo(folder, { hasInspector });
  await endBuilding();
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const copy = isDirectory ? copyFolder : Deno.copyFile;
    await copy(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Starts a demo on a free port, or on the one it had before. */
export async function demoPlace(
  { before, hasInspector = false }: {
    readonly before?: DemoPlace;
    readonly hasInspector?: boolean;
  } = {},
): Promise<DemoPlace> {
  const folder = before?.folder ?? await filledFolder(hasInspector);
  const port = before === undefined ? 0 : Number(new URL(before.url).port);
  const demo = await serveDemo({ folder, port });
  return {
    demo,
    url: demo.server.url,
    folder,
    async [Symbol.asyncDispose]() {
      await demo.server.close();
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
  };
}

/** Opens the board as somebody; resolves when it shows cards. */
export async function openAs(
  person: string,
  { url }: { readonly url: string },
  device: BrowserContext,
  hash = "#/winter",
): Promise<Page> {
  const page = await device.newPage();
  await page.goto(`${url}/?as=${person}${hash}`);
  await page.waitForSelector(".tile");
  return page;
}

/** Waits until this page has sent everything and follows the server. */
export async function settled(page: Page): Promise<void> {
  await page.waitForSelector('.badge[data-state="live"][data-unsent="0"]');
}

/** Flips "Work offline". */
export async function setOffline(
  page: Page,
  isOffline: boolean,
): Promise<void> {
  await page.locator(".badge").click();
  await page.getByRole("switch", { name: /Work offline/ })
    .setChecked(isOffline);
  await page.keyboard.press("Escape");
}

/** What the board shows: titles by column. */
export function boardOf(page: Page): Promise<Record<string, string[]>> {
  return page.evaluate(`Object.fromEntries(
    [...document.querySelectorAll(".lane")].map((lane) => [
      lane.querySelector("h2").textContent,
      [...lane.querySelectorAll(".tile-title")].map((title) => title.textContent),
    ]),
  )`);
}

/** A card's tile by its title. */
export function tile(page: Page, title: string) {
  return page.locator(".tile", { hasText: title });
}
