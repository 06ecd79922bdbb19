/**
 * Apps that `npm create @sheaf` makes from the tarballs: each checks, tests and
 * builds itself, and is used on two devices, in two tabs and without a network.
 */

import { deepEqual, match } from "node:assert/strict";
import {
  type BrowserContext,
  type BrowserPlace,
  browserTest,
  type Page,
} from "../../tests/browser/kit/mod.ts";
import { Child } from "../../tests/kit/child.ts";
import { programOf } from "./check.ts";
import { pack, type Packed } from "./pack.ts";
import { run } from "./run.ts";

const SECONDS_MAX = 290;
const target = Deno.makeTempDirSync({ prefix: "sheaf-pack-" });
let packed: Promise<Packed> | undefined;

Deno.test.afterAll(() => Deno.removeSync(target, { recursive: true }));

/** How a runtime alone installs an app and runs its tasks. */
interface Runtime {
  readonly name: string;
  program(): Promise<readonly [string, ...string[]]>;
  readonly task: string;
  /** Runs a module, in the process that is started. */
  readonly module: readonly string[];
}

const runtimes: Readonly<Record<string, Runtime>> = {
  Node: {
    name: "node",
    program: () => Promise.resolve(["npm"]),
    task: "run",
    module: moduleOfContainer(),
  },
  Bun: {
    name: "bun",
    program: () => programOf("bun"),
    task: "run",
    module: [],
  },
  Deno: {
    name: "deno",
    program: () => Promise.resolve([Deno.execPath()]),
    task: "task",
    module: [Deno.execPath(), "run", "-A"],
  },
};

/** What the guide's container runs, without the module's name. */
function moduleOfContainer(): readonly string[] {
  const guide = new URL("../../docs/guide/production.md", import.meta.url);
  const [, command = "[]"] = /^CMD (.+)$/m.exec(Deno.readTextFileSync(guide)) ??
    [];
  return JSON.parse(command).slice(0, -1);
}

/** Makes an app twice, the second time for nothing, and uses what it builds. */
async function useCreated(
  framework: string,
  runtime: Runtime,
  place: BrowserPlace,
): Promise<void> {
  const { folder: built, tarball } = await (packed ??= pack(target));
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-create-" });
  const create = tarball.replace(
    /[^/]+$/,
    (name) => name.replace("sheaf", "create"),
  );
  try {
    const packages = [tarball, create].map((one) => `--package=${one}`);
    const sheaf = runtime.name === "deno" ? built : tarball;
    const said = [
      ...["--framework", framework, "--runtime", runtime.name],
      ...["--sheaf", sheaf],
    ];
    const make = () =>
      run(
        folder,
        "npm",
        "exec",
        ...packages,
        "--",
        "create",
        "my-app",
        ...said,
      );
    match(await make(), /^Made \d+ files in my-app/);
    match(await make(), /^Nothing to do/);

    const app = `${folder}/my-app`;
    const [program, ...first] = await runtime.program();
    const task = (name: string) =>
      run(app, program, ...first, runtime.task, name);
    await run(app, program, ...first, "install");
    for (const name of ["check", "test", "build"]) await task(name);
    const [runs = program, ...before] = runtime.module;
    await using server = new Child([...before, "server/main.ts"], {
      program: runs,
      cwd: app,
      env: { PORT: "0" },
    });
    await useLists(place, await addressOf(server));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function addressOf(server: Child): Promise<string> {
  const said = await server.said(/http:\/\/[\w.]+:\d+\n/);
  return /http:\S+/.exec(said)![0];
}

/** Two people share a list; a third is refused; the page starts without a network. */
async function useLists(place: BrowserPlace, url: string): Promise<void> {
  const ann = await signIn(place.context, "ann", url);
  await add(ann, "Ship it");
  await ann.waitForSelector("text=Saved");
  const tab = await place.context.newPage();
  await tab.goto(url);
  await tab.waitForSelector("li >> text=Ship it");

  await ann.bringToFront();
  await ann.click("summary");
  await ann.fill("details [name=user]", "bob");
  await ann.click("details form button");
  await ann.waitForSelector("text=bob (writer)");
  const bob = await signIn(await place.device(), "bob", `${url}/#ann`);
  await bob.check("li input");
  await tab.waitForSelector("li input:checked");
  const eve = await signIn(await place.device(), "eve", `${url}/#ann`);
  await eve.waitForSelector("text=You are not a member");

  await ann.bringToFront();
  await place.context.setOffline(true);
  await ann.reload();
  await ann.waitForSelector("li >> text=Ship it");
  await add(ann, "Offline");
  await ann.waitForSelector("text=1 to send");
  await place.context.setOffline(false);
  await bob.waitForSelector("li >> text=Offline");
  deepEqual(await bob.locator("li").count(), 2);
}

async function signIn(
  context: BrowserContext,
  user: string,
  url: string,
): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.route("**/sheaf", (route) => route.abort());
  await page.fill("[name=user]", user);
  await page.fill("[name=password]", "a wrong password");
  await page.click("text=Sign in");
  await page.waitForSelector("text=A new device needs the server once");
  await page.unroute("**/sheaf");
  const alert = page.locator("[role=alert]", { hasText: "Name or password" });
  deepEqual(await alert.innerText(), "Name or password is wrong"); // no code
  await page.fill("[name=password]", `password of ${user}`);
  await page.check("[name=isNew]");
  await page.click("text=Sign in");
  await page.waitForSelector("form.sign-in", { state: "detached" });
  return page;
}

async function add(page: Page, title: string): Promise<void> {
  await page.fill("[name=title]", title);
  await page.click("text=Add");
  await page.waitForSelector(`li >> text=${title}`);
}

const options = { entries: {}, secondsMax: SECONDS_MAX };
for (const framework of ["preact", "react", "plain"]) {
  browserTest(
    `npm create @sheaf makes an app with ${framework}`,
    options,
    (place) => useCreated(framework, runtimes["Node"]!, place),
  );
}
for (const name of ["Bun", "Deno"]) {
  browserTest(
    `npm create @sheaf makes an app for ${name} alone`,
    options,
    (place) => useCreated("preact", runtimes[name]!, place),
  );
}
