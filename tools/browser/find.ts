/**
 * Which browser the tests run in: an installed Chromium or Chrome, else the one
 * inside an npm package, else none.
 *
 * `SHEAF_TEST_BROWSER` overrules the search: a path, `packaged` or `none`.
 *
 * @module
 */

import { findPackaged } from "./packaged.ts";

/** A browser that said its version. */
export interface FoundBrowser {
  readonly path: string;
  readonly version: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** No browser, and why. */
export interface NoBrowser {
  readonly reason: string;
}

const VERSION_MS_MAX = 10_000;

const NAMES = [
  "chromium",
  "google-chrome-stable",
  "google-chrome",
  "chromium-browser",
  "chrome",
];

const PLACES: Readonly<Record<string, readonly string[]>> = {
  darwin: [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
  ],
  windows: [
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Google\\Chrome\\Application\\chrome.exe",
  ],
};

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** Paths at which a browser may have been installed, best first. */
function installedPaths(): string[] {
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const onPath = Deno.build.os === "windows"
    ? []
    : NAMES.flatMap((name) => folders.map((folder) => `${folder}/${name}`));
  return [...onPath, ...PLACES[Deno.build.os] ?? []].filter(exists);
}

/** What a browser says of itself; `undefined` when it does not run. */
export async function versionOf(
  path: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  // On Windows the question opens a window; there the file is proof enough.
  if (Deno.build.os === "windows") return "installed";
  try {
    const { success, stdout } = await new Deno.Command(path, {
      args: ["--version"],
      env: { ...env },
      stdin: "null",
      stderr: "null",
      signal: AbortSignal.timeout(VERSION_MS_MAX),
    }).output();
    const text = new TextDecoder().decode(stdout).trim();
    return success && /\d+\.\d+/.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

async function found(path: string): Promise<FoundBrowser | undefined> {
  const version = await versionOf(path);
  return version === undefined
    ? undefined
    : { path, version, args: [], env: {} };
}

/** What was found is remembered here, with the wish: for the other files of a run, and for its processes. */
const MEMORY = "SHEAF_TEST_BROWSER_FOUND";

/**
 * The browser for tests, or why there is none; that is looked for, and said, once
 * in a run.
 */
export async function browserOfRun(): Promise<FoundBrowser | NoBrowser> {
  const wish = Deno.env.get("SHEAF_TEST_BROWSER") ?? "";
  const remembered = JSON.parse(Deno.env.get(MEMORY) ?? "{}");
  if (remembered.wish === wish) return remembered.found;
  const found = await findBrowser();
  if ("reason" in found) {
    console.warn(
      `browser tests are skipped: no browser runs here (${found.reason})`,
    );
  }
  Deno.env.set(MEMORY, JSON.stringify({ wish, found }));
  return found;
}

/** The browser for tests, or why there is none. */
export async function findBrowser(): Promise<FoundBrowser | NoBrowser> {
  const wish = Deno.env.get("SHEAF_TEST_BROWSER") ?? "";
  if (wish === "none") return { reason: "SHEAF_TEST_BROWSER is none" };
  if (wish === "packaged") return await findPackaged();
  if (wish !== "") {
    return await found(wish) ?? { reason: `${wish} does not run` };
  }
  for (const path of installedPaths()) {
    const browser = await found(path);
    if (browser !== undefined) return browser;
  }
  return await findPackaged();
}
