/**
 * The browser inside the npm package `@sparticuz/chromium`, for machines that
 * have none. It is fetched and unpacked only when it is needed, once, into
 * `node_modules/.cache`, by a process of its own (`unpack.ts`), so that neither
 * deno.json nor the lock file knows it.
 *
 * @module
 */

import { type FoundBrowser, type NoBrowser, versionOf } from "./find.ts";

const PACKAGE = "@sparticuz/chromium";
const VERSION = "153.0.0";
const REASON_CHARACTERS_MAX = 400;
const UNPACK_MS_MAX = 240_000;

const root = new URL("../../", import.meta.url);

/** Flags without which this build does not run in small containers. */
const ARGS = ["--no-zygote", "--disable-setuid-sandbox"];

/**
 * The package's own names folders of the service that it was made for. A
 * browser that finds no font lays out no text, and ends where it would draw some.
 */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`;

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Why the package could not be had, in one line: the rest says where in the program. */
function reasonOf(said: string): string {
  const [what = "", why = ""] = said.trim().split("\n");
  const isWhy = /^\s*\d+:/.test(why);
  const words = isWhy ? `${what} ${why.trim()}` : what;
  return `none is installed, and ${PACKAGE} was not had: ${words}`
    .slice(0, REASON_CHARACTERS_MAX);
}

/** Unpacks into a folder beside `folder` and renames it, so that a half-done one is never used. */
async function unpack(folder: string): Promise<string | undefined> {
  const draft = `${folder}-${crypto.randomUUID()}`;
  Deno.mkdirSync(draft, { recursive: true });
  try {
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--quiet",
        "--no-config",
        "--no-lock",
        "--node-modules-dir=none",
        "--allow-all",
        new URL("unpack.ts", import.meta.url).href,
        `npm:${PACKAGE}@${VERSION}`,
      ],
      // The package unpacks to the temporary folder, and its libraries only
      // where it believes to be in a container without any.
      env: { TMPDIR: draft, AWS_LAMBDA_JS_RUNTIME: "nodejs22.x" },
      stdin: "null",
      stdout: "null",
      signal: AbortSignal.timeout(UNPACK_MS_MAX),
    }).output();
    if (!success) return reasonOf(new TextDecoder().decode(stderr));
    Deno.writeTextFileSync(`${draft}/fonts/fonts.conf`, FONTS);
    Deno.renameSync(draft, folder);
  } catch (error) {
    // Another process that unpacked at the same time was first.
    if (!exists(folder)) return String(error);
  } finally {
    if (exists(draft)) Deno.removeSync(draft, { recursive: true });
  }
}

/** The packaged browser, unpacked if need be, or why it cannot run here. */
export async function findPackaged(): Promise<FoundBrowser | NoBrowser> {
  const { os, arch } = Deno.build;
  if (os !== "linux" || arch !== "x86_64") {
    return { reason: `no Chromium or Chrome installed on ${os} ${arch}` };
  }
  const folder = new URL(`node_modules/.cache/chromium-${VERSION}-fonts`, root);
  const path = folder.pathname;
  const problem = exists(path) ? undefined : await unpack(path);
  if (problem !== undefined) return { reason: problem };
  const fonts = { FONTCONFIG_PATH: `${path}/fonts` };
  const withLibraries = { ...fonts, LD_LIBRARY_PATH: `${path}/al2023/lib` };
  for (const env of [fonts, withLibraries]) {
    const version = await versionOf(`${path}/chromium`, env);
    if (version === undefined) continue;
    return { path: `${path}/chromium`, version, args: ARGS, env };
  }
  return { reason: `the browser of ${PACKAGE} does not run here` };
}
