/**
 * The first trip of who adopts Sheaf, as `docs/guide/browser.md` tells it: the
 * tarball, a React app by Vite, two tabs, another device and a server, with one
 * runtime alone.
 */

import { deepEqual } from "node:assert/strict";
import { browserTest, eventually } from "../../tests/browser/kit/mod.ts";
import { Child } from "../../tests/kit/child.ts";
import { guideFiles } from "./apps.ts";
import { programOf } from "./check.ts";
import { findFirefox, Firefox, type Tab } from "./firefox.ts";
import { pack, type Packed } from "./pack.ts";
import { run } from "./run.ts";

const SECONDS_MAX = 290;
const PACKAGES = ["react", "react-dom", "vite"];
const target = Deno.makeTempDirSync({ prefix: "sheaf-pack-" });
let packed: Promise<Packed> | undefined;

Deno.test.afterAll(() => Deno.removeSync(target, { recursive: true }));

type Command = readonly [string, ...string[]];

/** How the packages are installed with a runtime alone, and their programs run. */
interface Runtime {
  install(folder: string, packed: Packed): Promise<unknown>;
  command(folder: string, name: string): Command | Promise<Command>;
}

const runtimes: Readonly<Record<string, Runtime>> = {
  Node: {
    install: (folder, { tarball }) =>
      run(folder, "npm", "install", tarball, ...PACKAGES),
    command: (folder, name) => [`${folder}/node_modules/.bin/${name}`],
  },
  Bun: {
    install: async (folder, { tarball }) =>
      run(folder, ...await programOf("bun"), "add", tarball, ...PACKAGES),
    // As `bunx` does, whose own child would outlive it.
    command: async (folder, name) => [
      ...await programOf("bun"),
      `${folder}/node_modules/.bin/${name}`,
    ],
  },
  Deno: {
    install: (folder) => run(folder, Deno.execPath(), "install"),
    command: (_, name) => {
      const from = name === "sheaf" ? "@sheaf/sheaf" : name;
      return [Deno.execPath(), "run", "-A", `npm:${from}`];
    },
  },
};

/** Installs and starts it all as the guide says; `look` sees the page's address. */
async function travel(
  { install, command }: Runtime,
  hasDeno: boolean,
  look: (url: string) => Promise<void>,
): Promise<void> {
  const made = await (packed ??= pack(target));
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-trip-" });
  const write = (name: string, text: string) =>
    Deno.writeTextFileSync(`${folder}/${name}`, text);
  try {
    const { "deno.json": config = "", ...files } = guideFiles();
    if (hasDeno) {
      write("deno.json", config.replace("../sheaf/.release", target));
    } else write("package.json", "{}");
    for (const [name, text] of Object.entries(files)) write(name, text);
    await install(folder, made);

    const start = async (name: string, ...args: string[]) => {
      const [program, ...first] = await command(folder, name);
      return new Child([...first, ...args], { program, cwd: folder });
    };
    // As in the guide, the server first: Deno links the package anew for each
    // program that starts, and what bundles it meanwhile misses files.
    const port = freePort();
    const origin = `http://127.0.0.1:${port}`;
    const login = ["--token", "ann=secret-of-ann", "--origin", origin];
    const place = ["--data", "server", "--port", "0"];
    await using server = await start("sheaf", "serve", ...place, ...login);
    const said = await server.said(/root key +\w+\n/);
    const db = files["db.js"]!.replace(
      /…64[^"]*/,
      /[0-9a-f]{64}/.exec(said)![0],
    )
      .replace("ws://127.0.0.1:8080", /http:\S+/.exec(said)![0]);
    write("db.js", db);
    const address = ["--host", "127.0.0.1", "--strictPort", "--port", port];
    await using page = await start("vite", ...address);
    await page.said(/http:\S+:\d+\D/);
    await look(origin);
    for (const child of [server, page]) {
      child.kill();
      await child.ended;
    }
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** A port that nobody listened at just now. */
function freePort(): string {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return String(listener.addr.port);
}

/** Two tabs of a device and one of another show what each of them adds, also after a reload. */
async function useTabs(
  url: string,
  open: (device: "first" | "other") => Promise<Tab>,
): Promise<void> {
  const tabs = [await open("first"), await open("first"), await open("other")];
  const rows = "[...document.querySelectorAll('li')].map((li) => li.innerText)";
  const wanted = ["Add one"];
  const allShow = () =>
    eventually(async () => {
      for (const tab of tabs) deepEqual(await tab.evaluate(rows), wanted);
    });
  await tabs[0]!.goto(url);
  for (const tab of tabs) {
    await eventually(async () => void await tab.goto(url));
  }
  await allShow();
  for (const [at, tab] of tabs.entries()) {
    await tab.evaluate("document.querySelector('ul').click()");
    wanted.splice(-1, 0, `Task ${at + 1}`);
    await allShow();
  }
  await tabs[0]!.goto(url);
  await allShow();
  // Who is still loading something misses its server.
  for (const tab of tabs) await tab.goto("about:blank");
}

const options = { entries: {}, secondsMax: SECONDS_MAX };
for (const [name, runtime] of Object.entries(runtimes)) {
  browserTest(
    `the guide's app, with ${name} alone`,
    options,
    (place) =>
      travel(
        runtime,
        name === "Deno",
        (url) =>
          useTabs(url, async (device) => {
            const context = device === "first"
              ? place.context
              : await place.device();
            return await context.newPage();
          }),
      ),
  );
}

const firefox = await findFirefox();

Deno.test({
  name: "the guide's app, in Firefox",
  ignore: firefox === undefined,
  fn: () =>
    travel(runtimes["Node"]!, false, async (url) => {
      await using browser = await Firefox.launch(firefox!);
      await useTabs(url, async (device) =>
        browser.tab(device === "other" ? await browser.device() : undefined));
    }),
});
