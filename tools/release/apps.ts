/**
 * Apps as users make them: an empty folder, the tarball by `npm install`, a
 * bundler as it comes, a browser.
 *
 * The examples in `docs/guide/preact.md` and `browser.md` are apps, too: what the
 * page shows is what is built.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import {
  type BrowserContext,
  eventually,
} from "../../tests/browser/kit/mod.ts";
import { Child } from "../../tests/kit/child.ts";
import { run } from "./run.ts";

const apps = new URL("apps/", import.meta.url).pathname;
const guide = new URL("../../docs/guide/", import.meta.url).pathname;

/** An app in a folder of its own. */
export interface App {
  /** npm's packages beside ours. */
  readonly packages: readonly string[];
  /** Files by their names in the app: the text, or the name of a file in `apps/`. */
  readonly files: Readonly<Record<string, string>>;
}

/** The database and its worker, which all apps have; `where` is their folder. */
export function database(where = ""): Record<string, string> {
  return {
    [`${where}tasks.js`]: "tasks.js",
    [`${where}worker.js`]: "worker.js",
  };
}

/** An example of the guide, by the language of its block. */
export function example(language: string): string {
  const pattern = `^\`\`\`${language}\n([^]*?)^\`\`\`$`;
  const [, text] =
    new RegExp(pattern, "m").exec(Deno.readTextFileSync(`${guide}preact.md`)) ??
      [];
  if (text === undefined) throw new Error(`The guide shows no ${language}`);
  return text;
}

/** The files of the app in `browser.md`, by the names that their first lines tell. */
export function guideFiles(): Record<string, string> {
  const page = Deno.readTextFileSync(`${guide}browser.md`);
  const named = page.matchAll(
    /^```\w+[^\n]*\n(?:\/\/|<!--) ([\w.]+)[^]*?^```$/gm,
  );
  const [, config = ""] = /^```json\n([^]*?)^```$/m.exec(page) ?? [];
  return {
    "deno.json": config,
    ...Object.fromEntries(
      Array.from(named, ([block, name]) => [
        name!,
        block.replace(/^.*\n/, "").replace(/```$/, ""),
      ]),
    ),
  };
}

/** Makes the app and installs what it needs, in a folder that goes with it. */
export async function withApp(
  tarball: string,
  { packages, files }: App,
  work: (folder: string) => Promise<void>,
): Promise<void> {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-app-" });
  try {
    write(folder, "package.json", '{ "private": true, "type": "module" }');
    for (const [name, source] of Object.entries(files)) {
      const isFile = /^[\w.]+$/.test(source);
      const text = isFile ? Deno.readTextFileSync(`${apps}${source}`) : source;
      write(folder, name, text);
    }
    await run(folder, "npm", "install", tarball, ...packages);
    await work(folder);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function write(folder: string, name: string, text: string): void {
  const path = `${folder}/${name}`;
  Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** Do the scripts in a folder, or any below it, tell errors by their texts? */
export function tellTexts(folder: string): boolean {
  return [...Deno.readDirSync(folder)].some(({ name, isDirectory }) => {
    const path = `${folder}/${name}`;
    if (isDirectory) return tellTexts(path);
    return name.endsWith(".js") &&
      /Cannot open a database/.test(
        Deno.readTextFileSync(path).replaceAll("\\\n", ""), // A line's end in a text.
      );
  });
}

/** Runs a program of the app. */
export async function build(
  folder: string,
  program: string,
  ...args: readonly string[]
): Promise<void> {
  await run(folder, `${folder}/node_modules/.bin/${program}`, ...args);
}

/** Runs a server of the app, which says its address, and looks at the app there. */
export async function served(
  folder: string,
  [program, ...args]: readonly [string, ...string[]],
  look: (url: string) => Promise<unknown>,
): Promise<void> {
  await using server = new Child(args, {
    program: `${folder}/node_modules/.bin/${program}`,
    cwd: folder,
  });
  const said = await server.said(/http:\/\/[\w.]+:\d+[^]*\n/);
  await look(/http:\/\/[\w.]+:\d+/.exec(said)![0]);
  server.kill();
  await server.ended;
}

/** What is written is shown, is there after a reload, and so is what is changed then; gives how often the page was loaded. */
export async function useApp(
  context: BrowserContext,
  url: string,
): Promise<number> {
  const page = await context.newPage();
  let loads = 0;
  page.on("load", () => void loads++);
  const shows = (texts: readonly string[]) =>
    eventually(async () => {
      const rows = await page.locator("li").allInnerTexts();
      equal(rows.map((text) => text.trim()).join(), texts.join());
    });
  await page.goto(url);
  await page.click("button");
  await shows(["Ship it"]);
  await page.reload();
  await shows(["Ship it"]);
  await page.click("text=Ship it");
  await shows([]);
  await page.reload();
  await page.waitForSelector("button");
  await page.click("button");
  await shows(["Ship it"]);
  await page.close();
  return loads;
}
